// Arrays in global memory as manual kernels see them: pointers, views, single elements.
#pragma once

#include "ir/build/manual.h"

namespace ptl::ir {

/// An array, or a `make_tensor_view(…)`. `isOut`: it is written.
TensorView wholeTensor(BuildContext &c, const Expr &expr, bool isOut);
/// An operand in global memory: at most rows and columns of an array. Null after an error.
mlir::Value viewOf(BuildContext &c, const Expr &expr, bool isOut);
/// A number as a position.
mlir::Value positionOf(BuildContext &c, const Expr &expr);
Bound loadElement(BuildContext &c, const IndexExpr &expr);
void storeElement(BuildContext &c, const IndexExpr &place, const Expr &value);
/// `let v = make_tensor_view(…)`, `let v = x[i, :]`. False: it is another `let`.
bool buildManualLet(BuildContext &c, const LetStmt &stmt);

} // namespace ptl::ir
