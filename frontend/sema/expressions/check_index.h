// Indexing: what each index does to its axis, the type of the result, and the bounds.
#pragma once

#include "frontend/sema/expressions/broadcast.h"

namespace ptl {

Expr *checkIndex(Context &ctx, NodeId node);
/// `x[…]` of `load(x[…], outside: v)`: no bounds.
IndexExpr *checkRegion(Context &ctx, NodeId node);
/// The place an indexed assignment writes.
Expr *checkTarget(Context &ctx, NodeId node);
/// The value with another shape of as many elements.
Expr *reshaped(Context &ctx, Expr *value, const Shape &shape);
/// The value with the shape that it broadcasts to.
Expr *repeated(Context &ctx, Expr *value, const Shape &shape);
/// An array as one of one axis; one with `..` stays as it is.
Expr *withOneAxis(Context &ctx, Expr *array);

} // namespace ptl
