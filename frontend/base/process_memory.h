// The memory use of this process.
#pragma once

#include <cstdint>

namespace ptl {

/// The resident set size of the process in bytes; 0 if it is unknown.
int64_t residentBytes();

} // namespace ptl
