// Index expressions: the effect of each index on its axis, the type of the result, and the bounds.
#pragma once

#include "frontend/sema/expressions/broadcast.h"

namespace ptl {

/// `expected` gives constants in the array that is indexed their element type.
Expr *checkIndex(Context &ctx, NodeId node, const Type *expected);
/// Checks the `x[…]` of `load(x[…], outside: v)`, which has no bounds checks.
IndexExpr *checkRegion(Context &ctx, NodeId node);
/// Checks the place that an indexed assignment writes.
Expr *checkTarget(Context &ctx, NodeId node);
/// The value reshaped; the number of elements is the same.
Expr *reshaped(Context &ctx, Expr *value, const Shape &shape);
/// The value broadcast to a shape.
Expr *repeated(Context &ctx, Expr *value, const Shape &shape);
/// An array flattened to one axis; an array with `..` is not changed.
Expr *withOneAxis(Context &ctx, Expr *array);

} // namespace ptl
