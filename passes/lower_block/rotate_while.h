// Loops whose condition runs instructions, with the condition at the end of each turn.
#pragma once

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Gives each `scf.while` of the grid a condition that is decided without running anything: what
/// computes it stands before the loop and again at the end of its body, and the loop carries
/// whether it goes on. Conditions of plain arithmetic stay. `and` and `or` compute both sides where
/// that reads no position: PTOAS takes no branches in a `while` that stands in a loop.
void rotateWhileLoops(ir::ParallelOp grid);

} // namespace ptl::block
