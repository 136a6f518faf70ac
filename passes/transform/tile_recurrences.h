// Loops of programs whose rounds follow from each other position by position.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// The sizes of the tiles that execute all rounds of a loop.
struct RecurrenceTiles {
  int64_t elements; ///< most elements of a tile of any value in the loop
  int64_t grids; ///< tiles are made smaller so that there are as many, if the axes are long enough
  size_t rank;   ///< most axes of a value in the loop
  int64_t held;  ///< longest axis without a static bound that a tile has whole
  int64_t
      rounds; ///< rounds whose rows are loaded and stored together, where there is one lane; 1: none
  int64_t columns;      ///< rounds whose columns are, which lie side by side in each row
  bool isBounded;       ///< tiles need static bounds: for longer axes the loop remains, in a branch
  bool needsRecurrence; ///< rounds that do not need each other stay grids of their own
  bool mayReread;       ///< rounds may read what the loop has written to memory
};

/// `for t in 0..T { s = s * a[t] + x[t, :]; y[t, :] = s }` would be a few grids in each round, with a
/// meeting of all cores behind each. Where all that a round computes and stores depends, along some
/// axes, on the same positions only, the loop becomes one grid over tiles of these axes, each of
/// which executes all rounds and keeps what the loop carries near the core.
void tileRecurrences(mlir::func::FuncOp function, const RecurrenceTiles &tiles);

} // namespace ptl::ir
