// Rotates loops whose condition runs instructions, so that the condition is computed at the end of
// each iteration.
#pragma once

#include "ir/dialect/ptl_dialect.h"

namespace ptl::block {

/// Gives each `scf.while` of the grid a condition that needs no instructions: the code that
/// computes it is put in front of the loop and again at the end of its body, and the loop carries
/// the result. Conditions of plain arithmetic are not changed. `and` and `or` evaluate both sides
/// if neither reads a position, because PTOAS accepts no branches in a `while` inside a loop.
void rotateWhileLoops(ir::ParallelOp grid);

} // namespace ptl::block
