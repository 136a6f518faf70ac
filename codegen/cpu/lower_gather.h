// Elements at positions that arrays hold: gathers and scattered stores.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The element of `gather` or `take`; null: the operation is neither.
mlir::Value gatherElement(Lowering &l, mlir::Operation *op, const Coords &at);
/// Writes what `scatter` gives. False: the operation is another.
bool produceScatter(Lowering &l, mlir::Operation *op, const View &dest);

} // namespace ptl::cpu
