// Loops that add up products.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Lowers a loop, or loops in loops, that do nothing but add products of matrices in memory to what they carry: one contraction over
/// all rounds. False, with nothing emitted, if it is something else.
bool lowerSum(Lowering &l, mlir::scf::ForOp loop);

} // namespace ptl::cpu
