// Layout of emitted C++, by Clang's library, and `#line`.
#pragma once

#include "codegen/pto/line_map.h"

namespace ptl::pto {

/// Formats the text in LLVM's style, 100 columns; the map follows.
void formatCpp(Emitted &emitted);

/// Puts `#line` wherever the line of the source is not the one that follows from the line before.
/// What comes from nowhere is in `fileName`, where it stands.
void addLineDirectives(Emitted &emitted, const std::string &fileName);

} // namespace ptl::pto
