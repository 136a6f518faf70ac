// Expressions, and which function builds which.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

Bound buildExpr(BuildContext &c, const Expr &expr);
/// An expression that is one value; the content of storage.
mlir::Value buildValue(BuildContext &c, const Expr &expr);
/// A number of an element type.
mlir::Value buildConstant(BuildContext &c, ElemKind elem, double floatValue, int64_t intValue,
                          mlir::Location loc);
/// The content of storage as a value; anything else as it is.
Bound readRef(BuildContext &c, Bound bound, mlir::Location loc);
/// Likewise each part of a tuple or struct.
Bound readRefs(BuildContext &c, Bound bound, mlir::Location loc);

} // namespace ptl::ir
