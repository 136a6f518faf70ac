// Columns that the author aligned stay aligned. Only for use inside `frontend/format`.
#pragma once

#include "frontend/format/output_line.h"
#include "frontend/format/spacing.h"

namespace ptl {

/// Notes where the line of a binding, a field or the like has its `=` or its type, if it has one.
void setAnchor(const Tree &tree, const Spacing &spacing, NodeId id, OutputLine &line);

/// Aligns the anchors of neighbouring lines that are aligned in the source, then the comments behind lines, which it appends.
void align(std::vector<OutputLine> &lines);

} // namespace ptl
