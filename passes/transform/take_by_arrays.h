// Rows that are selected by arrays of positions.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// `table[ids, :]` with positions of several axes is built as a flat list of positions, the rows
/// that it selects, and a reshape. The CPU reads an element at any coordinates, so there the array
/// of positions itself selects the rows: its axes are axes of the result, along which users can be
/// tiled, and the rows need not be stored.
void takeByArrays(mlir::func::FuncOp function);

/// For CPUs, outside of grids: what chooses elements by positions that count evenly (`x[N - 1 - index(0..N)]`) gets these for itself, and so does
/// the check that they lie inside, so that nobody stores them.
void repeatPositions(mlir::func::FuncOp function);

} // namespace ptl::ir
