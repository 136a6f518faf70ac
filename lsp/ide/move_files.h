// What has to be written elsewhere when files get other paths: the imports that name them.
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

/// Edits, of the texts before the moves, after which each import of the files at `paths` and of
/// those that are known means the file that it means now. Names of modules follow the names of
/// their files. The files are still where they were.
std::vector<std::pair<Location, std::string>> editsForMoves(Workspace &workspace,
                                                            std::span<const FileMove> moves,
                                                            std::span<const std::string> paths);

} // namespace ptl::ide
