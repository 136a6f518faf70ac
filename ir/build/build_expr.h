// Builds expressions, dispatched by their kind.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

Bound buildExpr(BuildContext &c, const Expr &expr);
/// Builds an expression that is a single value; storage is read.
mlir::Value buildValue(BuildContext &c, const Expr &expr);
/// A constant of an element type.
mlir::Value buildConstant(BuildContext &c, ElemKind elem, double floatValue, int64_t intValue,
                          mlir::Location loc);
/// Reads storage; any other bound is returned unchanged.
Bound readRef(BuildContext &c, Bound bound, mlir::Location loc);
/// The same for each part of a tuple or struct.
Bound readRefs(BuildContext &c, Bound bound, mlir::Location loc);

} // namespace ptl::ir
