// Finds the imports that have to be changed when files get other paths.
#pragma once

#include "lsp/ide/workspace.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ptl::ide {

/// A file or folder that gets another path.
struct FileMove {
  std::string from;
  std::string to;
};

/// Edits, relative to the texts before the moves, after which each import of the files at `paths`
/// and of the files that are known refers to the same file as now. Names of modules follow the
/// names of their files. When this is called the files are still at their old places.
std::vector<std::pair<Location, std::string>> editsForMoves(Workspace &workspace,
                                                            std::span<const FileMove> moves,
                                                            std::span<const std::string> paths);

} // namespace ptl::ide
