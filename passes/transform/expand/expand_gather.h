// Elements by position.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// What begins beyond that, positions of 32 bits do not reach.
constexpr int64_t kReach = int64_t(1) << 31;

/// Whether numbers of 64 bits become words and come of them on chip.
bool hasWideWords(const Machine &machine);
/// Positions of 64 bits as words, which must hold them.
mlir::Value asWords(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value places);

/// Expands parts by position (`expandTake`, `expandScatter`), and elements by position: `gather` and `scatter` become grids. False for other
/// operations.
bool expandByPosition(mlir::Operation *op, int64_t tileBytes, const Machine *machine);

} // namespace ptl::ir
