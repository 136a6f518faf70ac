// Operators: arithmetic with dimensions, shifted ranges, short circuit, everything else by the op
// table. Fields of values, too.
#pragma once

#include "frontend/sema/expressions/convert.h"

namespace ptl {

Expr *checkBinary(Context &ctx, NodeId node, const Type *expected);
Expr *checkUnary(Context &ctx, NodeId node, const Type *expected);
/// A built-in operator by its spelling, on operands.
Expr *checkOperator(Context &ctx, NodeId node, std::string_view spelling,
                    std::vector<Operand> operands);
/// `r.len`, `s.field`, `nn.EPS`
Expr *checkMember(Context &ctx, NodeId node);
/// Sets `dim` of an operator or built-in on `int` scalars.
void setDim(Context &ctx, OpExpr *expr);

} // namespace ptl
