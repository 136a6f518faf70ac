// The place of a grid or task in the source, which the runtime reports.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The address of a constant `PtlPlace` with the name and place of an operation's result.
mlir::Value placeOfTask(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
