// Operators: arithmetic with dimensions, shifted ranges, short-circuit evaluation; everything else
// by the op table. Also fields of values.
#pragma once

#include "frontend/sema/expressions/convert.h"

namespace ptl {

Expr *checkBinary(Context &ctx, NodeId node, const Type *expected);
Expr *checkUnary(Context &ctx, NodeId node, const Type *expected);
/// Applies a built-in operator, given by its spelling, to operands.
Expr *checkOperator(Context &ctx, NodeId node, std::string_view spelling,
                    std::vector<Operand> operands);
/// Checks `r.len`, `s.field`, `nn.EPS`.
Expr *checkMember(Context &ctx, NodeId node, const Type *expected);
/// Sets `dim` of an operator or built-in on `int` scalars.
void setDim(Context &ctx, OpExpr *expr);
/// Reports a division of integers by 0 that needs no run to be seen.
void checkDivisor(Context &ctx, const OpExpr *expr);

} // namespace ptl
