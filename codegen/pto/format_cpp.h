// Layout of emitted C++, by Clang's library, and `#line`.
#pragma once

#include "codegen/pto/line_map.h"

namespace ptl::pto {

/// Formats the text in LLVM's style, 100 columns; the map follows.
void formatCpp(Emitted &emitted);

/// Puts `#line` where the line of the source changes; what follows until the next one came from
/// that line, too. Code of no source line is in `fileName`, where it stands.
void addLineDirectives(Emitted &emitted, const std::string &fileName);

} // namespace ptl::pto
