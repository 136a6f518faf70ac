// What an edit of one chunk would lead to: the edited text is checked beside the workspace, so that
// a refactoring whose result is wrong is never offered.
#pragma once

#include "lsp/ide/workspace.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptl::ide {

/// Replaces a range of bytes, of a document or of a chunk as said where it is used.
struct Edit {
  Range range;
  std::string text;
  bool operator==(const Edit &) const = default;
};

/// The text after edits that do not overlap; of two insertions at one place the first comes first.
std::string applied(std::string_view text, std::vector<Edit> edits);

/// The errors of a chunk after an edit, as `E0312: …`.
struct Trial {
  std::vector<std::string> errors;
  std::vector<std::string> added; ///< those that it did not have before
};

/// Checks the declarations of a chunk (and no others) as they are after edits of it, whose ranges
/// are of the chunk.
Trial tryEdits(Workspace &workspace, File &file, size_t place, const std::vector<Edit> &edits);

} // namespace ptl::ide
