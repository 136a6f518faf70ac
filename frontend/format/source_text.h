// Text and columns of the source, as the formatter reads them. Only for use inside `frontend/format`.
#pragma once

#include "frontend/syntax/tree.h"

#include <optional>
#include <string>
#include <string_view>

namespace ptl {

/// Columns of a text: code points.
uint32_t columnsOf(std::string_view text);

/// Bytes `begin` to `end` of the source with plain line ends, and without white space at the end.
std::string textOf(const Tree &tree, uint32_t begin, uint32_t end);

/// The start of the line that contains an offset; nothing for lines that are too long to search.
std::optional<uint32_t> lineStart(const Tree &tree, uint32_t offset);

/// The column of an offset in its line; the offset itself in lines that are too long to search.
uint32_t sourceColumn(const Tree &tree, uint32_t offset);

} // namespace ptl
