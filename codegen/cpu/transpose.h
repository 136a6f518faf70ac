// Copies between arrays whose elements are neighbours in memory along different axes.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Transposes a square of vectors in registers: lane j of row i becomes lane i of row j. As many rows as lanes, a power of two.
void transposeRegisters(const Emit &e, llvm::SmallVectorImpl<mlir::Value> &rows);

/// Copies by squares of vectors, or by vectors of a few rows whose elements take turns in `to`, if `from` is contiguous along another axis than `to`, so that both are read and written as they lie
/// in memory. False, and nothing is emitted, where that is not known or of no use. Extents and element types are equal.
/// Whole lines of `to` go past the caches where `streamed`, if not null, holds.
bool copyTransposed(Lowering &l, const View &from, const View &to, mlir::Value streamed);

} // namespace ptl::cpu
