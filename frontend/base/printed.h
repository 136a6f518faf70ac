// Formats text as `printf` does, for numbers that people read.
#pragma once

#include <string>

namespace ptl {

/// The result has at most 511 bytes; a longer one is truncated.
__attribute__((format(printf, 1, 2))) std::string printed(const char *format, ...);

} // namespace ptl
