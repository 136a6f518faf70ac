// Elementwise values whose rows follow each other in memory are computed as one long row: short rows spend much of their time on
// their ends, and their lines are shared.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the elements of `array`, an elementwise value that is prepared, to `to`, as one row where its memory and that of all it
/// reads are without gaps, which is decided when the code runs; else, and where that cannot be, by `byRows`. `streamed` and `cost`
/// are as for `storeAll`.
void storeAsOneRow(Lowering &l, mlir::Value array, const View &to, mlir::Value streamed,
                   int64_t cost, llvm::function_ref<void()> byRows);

} // namespace ptl::cpu
