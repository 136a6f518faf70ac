// Loops that add up products.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Lowers a loop, or a nest of loops, that only adds products of matrices in memory to the values
/// it carries, as one contraction over all iterations. Returns false, and emits nothing, for other
/// loops.
bool lowerSum(Lowering &l, mlir::scf::ForOp loop);

} // namespace ptl::cpu
