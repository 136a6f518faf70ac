// Lowers gathers and scattered stores, whose positions are elements of arrays.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The element of `gather` or `take`; null if the operation is neither.
mlir::Value gatherElement(Lowering &l, mlir::Operation *op, const Coords &at);
/// Writes the result of a `scatter`. False if the operation is another.
bool produceScatter(Lowering &l, mlir::Operation *op, const View &dest);

} // namespace ptl::cpu
