// The source location of a grid or task, which the runtime reports.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The address of a constant `PtlPlace` with the name and the source location of an operation's
/// result.
mlir::Value placeOfTask(Lowering &l, mlir::Operation *op);

} // namespace ptl::cpu
