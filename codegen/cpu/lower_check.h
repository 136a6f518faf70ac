// Checks: how a function is left when something fails, and what the runtime is told then.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// `ptl.check`: where its condition does not hold, the failure is recorded and the function left.
void lowerCheck(Lowering &l, ir::CheckOp op);

/// The block that leaves the present function; made on demand.
mlir::Block *exitBlock(Lowering &l);
/// Leaves the present function unless the condition holds; emission goes on where it does.
void leaveUnless(Lowering &l, mlir::Value condition);

} // namespace ptl::cpu
