// Sorts imports and removes those that nothing uses.
#pragma once

#include "lsp/ide/actions/refactoring.h"

namespace ptl::ide {

/// Sorts the imports of a file, merges those of one module and removes unused ones. The ranges are
/// relative to the document; empty if nothing changes.
std::vector<Edit> organizeImports(const Workspace &workspace, const File &file);

} // namespace ptl::ide
