// Text as `printf` makes it, for numbers that people read.
#pragma once

#include <string>

namespace ptl {

/// At most 511 bytes; what is longer is cut.
__attribute__((format(printf, 1, 2))) std::string printed(const char *format, ...);

} // namespace ptl
