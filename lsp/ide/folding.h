// Finds the ranges that can be folded and selected: declarations, brackets over several lines, runs
// of comments, imports; and the nodes around a byte.
#pragma once

#include "lsp/ide/document.h"

#include <vector>

namespace ptl::ide {

enum class FoldKind : uint8_t { Code, Comment, Imports };

/// The lines of a fold, from 0, both inclusive. In the folded state the first stays visible and the
/// others are hidden. A line that begins with a closing bracket does not belong to the fold, so
/// that it stays visible, too.
struct Fold {
  uint32_t first = 0;
  uint32_t last = 0;
  FoldKind kind = FoldKind::Code;
  bool operator==(const Fold &) const = default;
};

/// By first line; at most one begins in a line.
std::vector<Fold> folds(const Document &document);

/// The nodes around a byte, innermost first: each range contains the one before and is larger. The
/// last is the whole document.
std::vector<Range> selectionRanges(const Document &document, uint32_t offset);

} // namespace ptl::ide
