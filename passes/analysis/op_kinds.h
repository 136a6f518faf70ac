// Classifies operations on arrays for passes that tile them, on every target.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

bool isReduction(mlir::Operation *op);
/// Whether the operation processes one axis and has a result as large as its operand: scans and
/// sorts.
bool isScan(mlir::Operation *op);
/// Whether a part of the scan's result depends only on that part of the operand and on the
/// reduction of the preceding ones.
bool isCumulative(mlir::Operation *op);
bool isProduct(mlir::Operation *op);
/// Whether the operation must not be duplicated: reductions, searches, products, scans and sorts.
bool isCostly(mlir::Operation *op);
/// Whether the operation is arithmetic: elementwise, or one of those above.
bool isTiled(mlir::Operation *op);
/// Whether the result only selects or rearranges elements of another value, so that analyses look
/// through it.
bool isView(mlir::Operation *op);
/// Whether the operation selects elements of its first operand by positions that are data.
bool isTaken(mlir::Operation *op);
/// Whether the operation creates an array of one value or of positions: it is repeated for each
/// tile.
bool isFill(mlir::Operation *op);

/// The only user of a value apart from those that ask for its lengths; null if there is none or are
/// several.
mlir::Operation *onlyUser(mlir::Value value);

/// The axes of a reduction with explicit axes; empty for one over all axes.
llvm::SmallVector<int64_t> foldedAxesOf(mlir::Operation *reduction);
/// The axes that a reduction reduces: the explicit ones, counted from the front, or all axes of its
/// operand.
llvm::SmallVector<int64_t> reducedAxesOf(mlir::Operation *reduction);
/// The axis that a scan or a sort processes.
size_t axisAlong(mlir::Operation *scan);

} // namespace ptl::ir
