// Vectors of elements at positions that are data.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The elements at `at`, whose coordinate along `axis` are `positions`, the registers of elements of `array`. Lanes that lie side by side
/// in memory, or close to each other in any order, are loaded together where that can be expected: which way it is, is found when the
/// code runs.
mlir::Value loadChosen(Lowering &l, const View &view, const Coords &at, size_t axis,
                       mlir::Value array, mlir::Value positions);

} // namespace ptl::cpu
