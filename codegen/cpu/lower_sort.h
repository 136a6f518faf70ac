// What other files of this folder need sorted.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// `unique(x)` of one axis: sorted, no two neighbours are equal.
mlir::Value uniqueFact(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
