// The execution of instructions on a pipe: which writes of the vector pipe they may read, and which
// of their own writes are held back.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Whether the vector pipe sees its own writes only after a barrier: on chips that need one, under
/// schedules that look for missing synchronisation.
bool delaysVector(const CoreState &core);

/// Executes an instruction, a push or a pop. Writes that become visible later stay in flight on its
/// pipe. False after an error.
bool runInstruction(CoreState &core, Pipe pipe, Issued &issued);

} // namespace ptl::rt::sim
