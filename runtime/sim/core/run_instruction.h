// Instructions on a pipe: what they may read of the vector pipe's writes, and which of their own
// writes are held back.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Whether the vector pipe sees its own writes only after a barrier: on chips that need one, in the
/// orders that look for faults.
bool delaysVector(const CoreState &core);

/// Executes an instruction, a push or a pop. Writes that are to be seen later stay in flight on its
/// pipe. False after an error.
bool runInstruction(CoreState &core, Pipe pipe, Issued &issued);

} // namespace ptl::rt::sim
