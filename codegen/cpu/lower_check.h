// Lowers checks: how a function is left when one fails, and how the runtime is informed.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Lowers `ptl.check`: where its condition does not hold, the failure is recorded and the function
/// is left.
void lowerCheck(Lowering &l, ir::CheckOp op);

/// The block that leaves the present function; it is made when it is needed first.
mlir::Block *exitBlock(Lowering &l);
/// Leaves the present function unless the condition holds; emission goes on where it does.
void leaveUnless(Lowering &l, mlir::Value condition);

} // namespace ptl::cpu
