// Loops: the types of their variables, the facts that hold inside, and their modifiers.
#pragma once

#include "frontend/sema/checked_stmt.h"
#include "frontend/sema/context.h"

namespace ptl {

/// Checks `i in 0..n`, and declares the variable.
LoopHead checkLoopBinding(Context &ctx, NodeId node);
Stmt *checkFor(Context &ctx, NodeId node);
Stmt *checkParallel(Context &ctx, NodeId node);
Stmt *checkWhile(Context &ctx, NodeId node);

} // namespace ptl
