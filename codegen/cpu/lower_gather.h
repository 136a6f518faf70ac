// Lowers gathers and scattered stores, whose positions are data.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The element of a `gather` or `take`; null for other operations.
mlir::Value gatherElement(Lowering &l, mlir::Operation *op, const Coords &at);
/// Writes the result of a `scatter`. Returns false, and emits nothing, for other operations.
bool produceScatter(Lowering &l, mlir::Operation *op, const View &dest);

} // namespace ptl::cpu
