// Checks the result of an edit of one chunk: the edited text is checked without changing the
// workspace, so that a refactoring with a wrong result is never offered.
#pragma once

#include "lsp/ide/workspace.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::ide {

/// Replaces a range of bytes. Users of the struct state whether the range is relative to a document
/// or to a chunk.
struct Edit {
  Range range;
  std::string text;
  bool operator==(const Edit &) const = default;
};

/// The text after edits that do not overlap; of two insertions at one place the earlier in the list
/// comes first.
std::string applied(std::string_view text, std::vector<Edit> edits);

/// A chunk after edits.
struct EditedCheck {
  std::shared_ptr<const SourceFile> text; ///< the text of the check's tree
  std::shared_ptr<const ChunkCheck> check;
};
/// Checks the declarations of a chunk (and no others) after edits, whose ranges are relative to it.
EditedCheck checkEdited(Workspace &workspace, File &file, size_t place,
                        const std::vector<Edit> &edits);

/// The errors of a chunk after an edit, as `E0312: …`.
struct Trial {
  std::vector<std::string> errors;
  std::vector<std::string> added; ///< errors that the chunk did not have before
};

/// The same, returning only its errors.
Trial tryEdits(Workspace &workspace, File &file, size_t place, const std::vector<Edit> &edits);

} // namespace ptl::ide
