// Builds arrays in global memory as manual kernels access them: pointers, views, single elements.
#pragma once

#include "ir/build/manual.h"

namespace ptl::ir {

/// The view of an array, or a `make_tensor_view(…)`. `isOut`: it is written.
TensorView wholeTensor(BuildContext &c, const Expr &expr, bool isOut);
/// The view of an operand in global memory, which is at most rows and columns of an array. Null
/// after an error.
mlir::Value viewOf(BuildContext &c, const Expr &expr, bool isOut);
/// A number as a position.
mlir::Value positionOf(BuildContext &c, const Expr &expr);
/// `x[i, j]` as an operand, and as what an assignment writes.
Bound loadElement(BuildContext &c, const IndexExpr &expr);
void storeElement(BuildContext &c, const IndexExpr &place, const Expr &value);
/// One element of a view, `offset` elements from its beginning. A condition, which is a byte there, is an `i1` here.
mlir::Value loadScalar(BuildContext &c, const TensorView &view, mlir::Value offset, ElemKind elem,
                       mlir::Location loc);
void storeScalar(BuildContext &c, const TensorView &view, mlir::Value offset, mlir::Value value,
                 mlir::Location loc);
/// Builds `let v = make_tensor_view(…)` or `let v = x[i, :]`. False if it is another `let`.
bool buildManualLet(BuildContext &c, const LetStmt &stmt);

} // namespace ptl::ir
