// Renames the symbol at a byte, everywhere. A new name that would change the meaning of any name is
// refused, with the reason.
#pragma once

#include "lsp/ide/navigation.h"

namespace ptl::ide {

struct RenameRange {
  Range range; ///< of the name, without quotes or dots
  std::string name;
  std::string error; ///< why it cannot be renamed; then nothing else is set
};
RenameRange prepareRename(Workspace &workspace, File &file, uint32_t offset);

struct Rename {
  std::vector<Location> edits; ///< each gets the new name
  std::string error;           ///< why not; then there are no edits
};
/// `paths`: files that may name it, besides those that are known.
Rename rename(Workspace &workspace, File &file, uint32_t offset, const std::string &newName,
              std::span<const std::string> paths);

} // namespace ptl::ide
