// Spaces between tokens, and the columns that a text takes.
#pragma once

#include "frontend/format/formatter.h"

namespace ptl {

/// Columns of a text: code points.
uint32_t columnsOf(std::string_view text);

} // namespace ptl
