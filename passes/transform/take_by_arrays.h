// Rows that are chosen by arrays of positions.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// `table[ids, :]` with positions of several axes is built as a row of positions, what they choose, and a reshape of that. The processor
/// reads an element by any coordinates, so there the array of positions itself chooses: its axes are those of the result, along which
/// what uses the rows can be cut, and the rows need not be stored.
void takeByArrays(mlir::func::FuncOp function);

} // namespace ptl::ir
