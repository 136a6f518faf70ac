// Describes the name, operator or expression at a place of a file.
#pragma once

#include "lsp/ide/workspace.h"

#include <optional>
#include <string>

namespace ptl::ide {

struct Hover {
  std::string markdown; ///< also readable as plain text
  Range range;          ///< of the file: the range that it describes
};

/// Nothing if there is no name, operator, keyword or expression.
std::optional<Hover> hoverAt(Workspace &workspace, File &file, uint32_t offset);

} // namespace ptl::ide
