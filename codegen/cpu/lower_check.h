// Lowers checks: how a function returns when one fails, and how the runtime is informed.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Lowers `ptl.check`: if its condition does not hold, the failure is recorded and the function
/// returns.
void lowerCheck(Lowering &l, ir::CheckOp op);

/// The block that returns from the present function; it is created on first use.
mlir::Block *exitBlock(Lowering &l);
/// Branches to `exitBlock` unless the condition holds; emission continues on the path where it
/// holds.
void leaveUnless(Lowering &l, mlir::Value condition);

} // namespace ptl::cpu
