// Files: the root and what it imports, each once, imported ones first.
#pragma once

#include "frontend/sema/program_state.h"

namespace ptl {

/// Loads a file and, first, all it imports. The first module of the program is the root.
void loadModules(ProgramState &state, FileId root);

} // namespace ptl
