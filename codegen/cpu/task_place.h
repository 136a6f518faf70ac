// Where a grid or task stands in the source, for what the runtime tells of it.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The address of a constant `PtlPlace` with the name and place of what an operation makes.
mlir::Value placeOfTask(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
