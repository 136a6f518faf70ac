// Stores that go past the caches. Of an array that no cache can hold, a store by way of the caches first reads each line that it
// then overwrites, which is a third of the traffic of a copy; and it drives out what is still needed.
#pragma once

#include "codegen/cpu/positions.h"

namespace ptl::cpu {

/// Whether what `op` stores to the storage `base` should go past the caches: a condition that is known when the code runs, since
/// it depends on how large the array and the caches are. Null where the answer is no: outside of the bodies of grids and tasks,
/// in loops inside of these, and where the body also reads the storage. To be called where the elements are stored.
mlir::Value isStreamed(Lowering &l, ir::StoreOp op, const View &base);

/// Writes all elements of `to`: what `element` emits at a position, with vectors along the last axis that is not 1. Where
/// `streamed` holds, whole lines go past the caches. `cost` and `hoisted` are as for `forAll`, and so is what is emitted if
/// `streamed` is null.
void storeAll(Lowering &l, const View &to, mlir::Value streamed, int64_t cost,
              mlir::ValueRange hoisted, llvm::function_ref<mlir::Value(Coords &)> element);

/// A condition on which the rows of `to` go past the caches, if `streamed` holds; null where they never do, because they are no runs
/// of memory, are short, or because an element costs so much that stores do not matter.
mlir::Value streamedRows(Lowering &l, const View &to, mlir::Value streamed, int64_t cost);

/// Whether the lines of all rows along `axis` begin at the same elements, so that several of them can be streamed at once.
mlir::Value haveSameLines(Lowering &l, const View &to, int64_t axis);

/// Emits the elements of rows, one of each, at these positions.
using RowElements = llvm::function_ref<Values(llvm::MutableArrayRef<Coords>)>;

/// Writes the rows of `to` at the positions `at`, whose coordinates along the inner axis are open, as `storeAll` writes all of them,
/// and goes along these rows together. `rows` is what `streamedRows` says; for several rows, `haveSameLines` holds where it does.
void storeRows(Lowering &l, const View &to, mlir::Value rows, int64_t cost,
               mlir::ValueRange hoisted, llvm::MutableArrayRef<Coords> at, RowElements elements);

/// Writes a row from its first vector to its last one. `element` gets the values that its vectors hand on, from `carried` on, and
/// replaces them; with a mask (`Lowering::mask`) it must hand on what the chosen lanes say. Returns the last ones.
Values storeRowInOrder(Lowering &l, const View &to, mlir::Value rows, Coords &at, Values carried,
                       llvm::function_ref<mlir::Value(Coords &, Values &)> element);

/// Ends the body of a grid or of a task, if it has streamed anything, with a fence: such stores are seen by other threads in any
/// order, so they have to be done when the body is. The builder stands in front of the return.
void fenceStreams(Lowering &l, mlir::func::FuncOp body);

} // namespace ptl::cpu
