// Schedules: checks that everything they name exists, and that every number is valid.
#pragma once

#include "frontend/sema/program_state.h"

namespace ptl {

/// Checks the schedules of a file. Precondition: the bodies of all declarations have been checked,
/// since schedules name their labels.
void checkSchedules(ProgramState &state, CheckedModule &module);

} // namespace ptl
