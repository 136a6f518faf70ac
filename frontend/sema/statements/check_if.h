// `if`, as a statement and as an expression.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

Stmt *checkIf(Context &ctx, NodeId node);
Expr *checkIfValue(Context &ctx, NodeId node, const Type *expected);

} // namespace ptl
