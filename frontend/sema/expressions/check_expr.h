// Expressions: dispatch by form; names, literals, tuples, lists and ranges.
#pragma once

#include "frontend/sema/expressions/convert.h"

namespace ptl {

/// Checks an expression; `expected` gives literals and `_` their types. Never null.
Expr *checkExpr(Context &ctx, NodeId node, const Type *expected = nullptr);
/// Checks an expression that must be a scalar `bool`.
Expr *checkCondition(Context &ctx, NodeId node);
/// `expected` is a hint for constants within the operand; an untyped constant stays untyped.
Operand checkOperand(Context &ctx, NodeId node, const Type *expected = nullptr);
/// Like `checkExpr`, but a tensor of a kernel need not be indexed: for bases of index expressions,
/// `inout` arguments, and predicates on data.
Expr *checkBase(Context &ctx, NodeId node, const Type *expected = nullptr);
/// What is expected of an array whose elements are expected as those of `expected`, whatever its shape; null: nothing.
const Type *elementExpected(Context &ctx, const Type *expected);
/// Checks `lo..hi step s`.
Expr *checkRange(Context &ctx, NodeId node);
/// Checks a scalar `int` (or another integer type, which is converted): bounds, steps, counts.
/// `what` describes it in messages.
Expr *checkIntScalar(Context &ctx, NodeId node, std::string_view what);
/// The same of an expression that was checked already.
Expr *asIntScalar(Context &ctx, NodeId node, const Operand &operand, std::string_view what);
/// The value as a dimension. A value that is not a dimension becomes an implicit `let` before the
/// statement. Unknown, after a report, if that is impossible here.
Dim dimOrHoist(Context &ctx, Expr *value);

/// The innermost node inside parentheses.
NodeId skipParens(Context &ctx, NodeId node);
/// A suggested index for a tensor in a kernel: the ranges of enclosing loops where they fit,
/// otherwise whole axes.
std::string suggestIndex(Context &ctx, const Type &type);

} // namespace ptl
