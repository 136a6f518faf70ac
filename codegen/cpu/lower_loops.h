// Loops of the source: counted ones and those with a condition. Grids are in lower_parallel.h,
// loops over the positions of arrays in positions.h.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

void lowerFor(Lowering &l, mlir::scf::ForOp op);
void lowerWhile(Lowering &l, mlir::scf::WhileOp op);

} // namespace ptl::cpu
