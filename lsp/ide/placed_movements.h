// Movements in the programs of a file: the one at a place, and the one that an edit inserts.
#pragma once

#include "lsp/ide/code_actions.h"

#include <memory>
#include <optional>
#include <vector>

namespace ptl::ide {

struct PlacedMovement {
  std::shared_ptr<const SourceFile> text;  ///< of an edit that was tried
  std::shared_ptr<const ChunkCheck> check; ///< owns the program
  const PlacedProgram *program = nullptr;
  ValueId value = 0; ///< of the movement
};

/// The movement whose call is at a range; nothing if there is none.
std::optional<PlacedMovement> movementAt(Workspace &workspace, File &file, Range range);

/// The movement that begins where the first of some edits of a file inserts text, in the edited
/// program.
std::optional<PlacedMovement> movementAfter(Workspace &workspace, File &file,
                                            const std::vector<FileEdit> &edits);

} // namespace ptl::ide
