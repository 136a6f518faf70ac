// Finds the imports that must change when files are moved.
#pragma once

#include "lsp/ide/workspace.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ptl::ide {

/// A file or folder that is moved.
struct FileMove {
  std::string from;
  std::string to;
};

/// Edits, relative to the texts before the moves, after which each import of the files at `paths`
/// and of all known files refers to the same file as before. Names of modules follow the names of
/// their files. Precondition: the files are still at their old paths.
std::vector<std::pair<Location, std::string>> editsForMoves(Workspace &workspace,
                                                            std::span<const FileMove> moves,
                                                            std::span<const std::string> paths);

} // namespace ptl::ide
