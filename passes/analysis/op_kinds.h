// What operations on arrays are to passes that compute them in parts, on every target.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

bool isReduction(mlir::Operation *op);
/// Operations that go along one axis and have a result as large as their operand: scans and sorts.
bool isScan(mlir::Operation *op);
/// Scans whose parts follow from the part itself and what comes before, folded.
bool isCumulative(mlir::Operation *op);
bool isProduct(mlir::Operation *op);
/// Reductions, searches, products, scans and sorts: never computed twice.
bool isCostly(mlir::Operation *op);
/// Operations that are arithmetic: elementwise ones and those above.
bool isTiled(mlir::Operation *op);
/// Operations whose results can be looked through: they say which elements of another value theirs
/// are.
bool isView(mlir::Operation *op);
/// Operations that choose elements of their first operand by positions that are data.
bool isTaken(mlir::Operation *op);
/// Arrays of one value or of positions: made anew for each tile.
bool isFill(mlir::Operation *op);

/// The axes that a reduction along given axes folds; empty for one over all axes.
llvm::SmallVector<int64_t> foldedAxesOf(mlir::Operation *reduction);
/// The axes that a reduction folds: those that it names, counted from the front, or all of its
/// operand's.
llvm::SmallVector<int64_t> reducedAxesOf(mlir::Operation *reduction);
/// The axis that a scan or a sort goes along.
size_t axisAlong(mlir::Operation *scan);

} // namespace ptl::ir
