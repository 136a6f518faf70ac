// Streamed (non-temporal) stores, which bypass the caches. Of an array that exceeds all caches, an
// ordinary store first reads each line that it then overwrites, which is a third of the traffic of
// a copy; and it evicts what is still needed.
#pragma once

#include "codegen/cpu/positions.h"

namespace ptl::cpu {

/// The condition under which what `op` stores to the storage `base` should bypass the caches. It is
/// evaluated at run time, since it depends on the sizes of the array and the caches. Null if the
/// answer is no: outside the bodies of grids and tasks, in loops inside these, and if the body also
/// reads the storage. To be called where the elements are stored.
mlir::Value isStreamed(Lowering &l, ir::StoreOp op, const View &base);

/// Writes all elements of `to`: `element` emits the element at a position, with vectors along the
/// last axis whose extent is not 1. Where `streamed` holds, full cache lines are streamed. `cost`
/// and `hoisted` are as for `forAll`. Without `streamed`, the code is that of `forAll`.
void storeAll(Lowering &l, const View &to, mlir::Value streamed, int64_t cost,
              mlir::ValueRange hoisted, llvm::function_ref<mlir::Value(Coords &)> element);

/// The condition under which the rows of `to` are streamed, given that `streamed` holds. Null if
/// they never are, because they are not contiguous, are short, or an element costs so much that the
/// time of stores does not matter.
mlir::Value streamedRows(Lowering &l, const View &to, mlir::Value streamed, int64_t cost);

/// Whether the cache lines of all rows along `axis` begin at the same element, so that several rows
/// can be streamed in one loop.
mlir::Value haveSameLines(Lowering &l, const View &to, int64_t axis);

/// Emits one element of each row, at these positions.
using RowElements = llvm::function_ref<Values(llvm::MutableArrayRef<Coords>)>;

/// Writes the rows of `to` at the positions `at`, whose coordinate along the inner axis is unknown,
/// in one loop along these rows; otherwise like `storeAll`. `rows` is the result of `streamedRows`.
/// With several rows, `haveSameLines` must hold wherever `rows` does.
void storeRows(Lowering &l, const View &to, mlir::Value rows, int64_t cost,
               mlir::ValueRange hoisted, llvm::MutableArrayRef<Coords> at, RowElements elements);

/// Writes a row from its first vector to its last. `element` receives the values that vectors pass
/// on, beginning with `carried`, and replaces them. With a mask (`Lowering::mask`) it must pass on
/// what the active lanes determine. Returns the last of these values.
Values storeRowInOrder(Lowering &l, const View &to, mlir::Value rows, Coords &at, Values carried,
                       llvm::function_ref<mlir::Value(Coords &, Values &)> element);

/// Ends the body of a grid or task with a fence if it has streamed anything: other threads may see
/// streamed stores in any order, so they must have completed when the body returns. The builder
/// stands in front of the return.
void fenceStreams(Lowering &l, mlir::func::FuncOp body);

} // namespace ptl::cpu
