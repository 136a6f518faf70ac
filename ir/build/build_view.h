// Builds arrays in global memory as manual kernels access them: pointers, views, single elements.
#pragma once

#include "ir/build/manual.h"

namespace ptl::ir {

/// The view of an array, or of a `make_tensor_view(…)`. `isOut`: it is written.
TensorView wholeTensor(BuildContext &c, const Expr &expr, bool isOut);
/// The view of an operand in global memory, which has at most rows and columns of an array. Null
/// after an error.
mlir::Value viewOf(BuildContext &c, const Expr &expr, bool isOut);
/// Converts an integer to a position.
mlir::Value positionOf(BuildContext &c, const Expr &expr);
/// Builds `x[i, j]` as an operand; and as the target of an assignment.
Bound loadElement(BuildContext &c, const IndexExpr &expr);
void storeElement(BuildContext &c, const IndexExpr &place, const Expr &value);
/// Loads one element of a view, `offset` elements from its beginning. A condition, which is stored
/// as a byte, becomes an `i1`.
mlir::Value loadScalar(BuildContext &c, const TensorView &view, mlir::Value offset, ElemKind elem,
                       mlir::Location loc);
void storeScalar(BuildContext &c, const TensorView &view, mlir::Value offset, mlir::Value value,
                 mlir::Location loc);
/// Builds `let v = make_tensor_view(…)` or `let v = x[i, :]`. Returns false for any other `let`.
bool buildManualLet(BuildContext &c, const LetStmt &stmt);

} // namespace ptl::ir
