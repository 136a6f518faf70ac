// The symbol at a place.
#pragma once

#include "lsp/ide/symbol.h"

namespace ptl::ide {

/// The symbol that covers a byte of a file, or ends there.
std::optional<Symbol> symbolAt(Workspace &workspace, File &file, uint32_t offset);

} // namespace ptl::ide
