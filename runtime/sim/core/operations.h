// Operations on pipes: what each of them does when its turn has come.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Executes an operation for which its pipe need not wait. Where the writes of an instruction are
/// held, they stay in flight. False after an error.
bool runOperation(CoreState &core, Pipe pipe, Issued &issued);

/// Ends the operation at the head of a pipe, which has been executed, and takes it off the pipe.
void completeHead(CoreState &core, Pipe pipe);

/// Lets a pipe take its next step: its head begins, ends, or both. False after an error.
bool advancePipe(CoreState &core, Pipe pipe);

} // namespace ptl::rt::sim
