// Schedules: everything they name exists, every number makes sense.
#pragma once

#include "frontend/sema/program_state.h"

namespace ptl {

/// Checks the schedules of a file. Needs the bodies of all declarations, whose labels they name.
void checkSchedules(ProgramState &state, CheckedModule &module);

} // namespace ptl
