// Random well-typed programs.
#pragma once

#include <cstdint>
#include <string>

namespace ptl::differential {

/// The text of a `fn` or kernel `name` that uses a handful of built-ins on matrices and vectors.
/// Values stay of moderate size, so that two executors' roundings cannot drift far apart.
std::string randomCallable(const std::string &name, uint64_t seed);

} // namespace ptl::differential
