// Formats emitted C++ by Clang's library, and adds `#line`.
#pragma once

#include "codegen/pto/line_map.h"

namespace ptl::pto {

/// Formats the text in LLVM's style, 100 columns, and adapts the line map.
void formatCpp(Emitted &emitted);

/// Adds `#line` where the line of the source changes; the lines until the next directive belong to
/// it. Lines that come from no source line are assigned to `fileName`.
void addLineDirectives(Emitted &emitted, const std::string &fileName);

} // namespace ptl::pto
