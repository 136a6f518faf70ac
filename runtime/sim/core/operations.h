// The execution of operations on pipes.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Executes an operation for which its pipe need not wait. If writes are held back, they stay in
/// flight. False after an error.
bool runOperation(CoreState &core, Pipe pipe, Issued &issued);

/// Ends the operation at the head of a pipe, which has been executed, and removes it.
void completeHead(CoreState &core, Pipe pipe);

/// Executes the next step of a pipe: its head begins, ends, or both. False after an error.
bool advancePipe(CoreState &core, Pipe pipe);

} // namespace ptl::rt::sim
