// Elementwise values whose rows follow each other in memory are computed as one long row: short rows spend much of their time on
// their ends, and their lines are shared.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes elements of `arrays`, elementwise values of the same extents that are prepared, by `store`, which gets where each of them goes: `to`,
/// or the same memory as one row where it and all that they read is without gaps, which is decided when the code runs. `cost` is that of an
/// element of all arrays.
void storeAsOneRow(Lowering &l, mlir::ValueRange arrays, llvm::ArrayRef<View> to, int64_t cost,
                   llvm::function_ref<void(llvm::ArrayRef<View>)> store);

} // namespace ptl::cpu
