// Expressions: the dispatch over their forms, names, literals, tuples, lists and ranges.
#pragma once

#include "frontend/sema/expressions/convert.h"

namespace ptl {

/// Checks an expression; `expected` types literals and `_`. Never null.
Expr *checkExpr(Context &ctx, NodeId node, const Type *expected = nullptr);
/// A scalar `bool`.
Expr *checkCondition(Context &ctx, NodeId node);
/// `expected` is a hint for constants within the operand; an untyped constant stays untyped.
Operand checkOperand(Context &ctx, NodeId node, const Type *expected = nullptr);
/// Like `checkExpr`, but a tensor of a kernel need not be indexed: bases, `inout` arguments, data
/// facts.
Expr *checkBase(Context &ctx, NodeId node);
/// `lo..hi step s`
Expr *checkRange(Context &ctx, NodeId node);
/// A scalar `int` (or another integer type, converted): bounds, steps, counts. `what` names it.
Expr *checkIntScalar(Context &ctx, NodeId node, std::string_view what);
/// The value as a dimension; one that is none becomes an implicit `let` before the statement.
/// Unknown when that is impossible here, which is reported.
Dim dimOrHoist(Context &ctx, Expr *value);

/// Through parentheses to what is inside.
NodeId skipParens(Context &ctx, NodeId node);
/// Text that indexes a tensor in a kernel: by the ranges of enclosing loops where they fit, else
/// whole axes.
std::string suggestIndex(Context &ctx, const Type &type);

} // namespace ptl
