// Counter-based random numbers.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Word `counter` (i64) of the Philox stream `seed` (i64), as i32.
mlir::Value emitPhilox(const Emit &e, mlir::Value counter, mlir::Value seed);
/// The element of a `philox` or `random`; null for other operations.
mlir::Value randomElement(Lowering &l, mlir::Operation *op, const Coords &at);

} // namespace ptl::cpu
