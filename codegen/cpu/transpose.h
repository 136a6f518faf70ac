// Copies between arrays that are contiguous along different axes.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Transposes a square of vectors in registers: lane j of row i becomes lane i of row j. There must
/// be as many rows as lanes, a power of two.
void transposeRegisters(const Emit &e, llvm::SmallVectorImpl<mlir::Value> &rows);

/// Copies by squares of vectors, or by vectors of a few rows that are interleaved in `to`, if
/// `from` is contiguous along another axis than `to`, so that both are accessed contiguously.
/// Returns false, and emits nothing, where that is unknown or useless. Extents and element types
/// are equal. Whole cache lines of `to` are streamed where `streamed`, if not null, holds.
bool copyTransposed(Lowering &l, const View &from, const View &to, mlir::Value streamed);

} // namespace ptl::cpu
