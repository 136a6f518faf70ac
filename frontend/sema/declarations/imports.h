// Loads the root file and its imports, each once; imported files come before their importers.
#pragma once

#include "frontend/sema/program_state.h"

namespace ptl {

/// Loads a file after all its imports. The first module of the program is the root.
void loadModules(ProgramState &state, FileId root);

} // namespace ptl
