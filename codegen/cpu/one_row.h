// Elementwise values whose rows are contiguous in memory are computed as one long row. Short rows
// would spend much of their time on remainders, and rows would share cache lines.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the elements of `arrays`, prepared elementwise values of the same extents. `store` gets
/// the destination of each: `to`, or the same memory as a single row if it and all operands are
/// contiguous, which the emitted code tests at run time, together with the condition `also` if there
/// is one. `cost` is the cost of one element of all arrays together.
void storeAsOneRow(Lowering &l, mlir::ValueRange arrays, llvm::ArrayRef<View> to, int64_t cost,
                   llvm::function_ref<void(llvm::ArrayRef<View>)> store, mlir::Value also = {});

} // namespace ptl::cpu
