// Describes the name, operator or expression at a place of a file.
#pragma once

#include "lsp/ide/workspace.h"

#include <optional>
#include <string>

namespace ptl::ide {

struct Hover {
  std::string markdown; ///< reads well without its marks too
  Range range;          ///< of the file: what it is about
};

/// Nothing where no name, operator, word or expression stands.
std::optional<Hover> hoverAt(Workspace &workspace, File &file, uint32_t offset);

} // namespace ptl::ide
