// Formats emitted C++ with Clang's formatting library, and adds `#line`.
#pragma once

#include "codegen/pto/line_map.h"

namespace ptl::pto {

/// Formats the text in LLVM's style with 100 columns, and updates the line map.
void formatCpp(Emitted &emitted);

/// Adds `#line` wherever the line of the source changes; a directive covers the lines up to the
/// next one. Lines without a source line are assigned to `fileName`.
void addLineDirectives(Emitted &emitted, const std::string &fileName);

} // namespace ptl::pto
