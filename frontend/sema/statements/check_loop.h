// Loops: the types of their variables, the facts that hold inside, and their modifiers.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

Stmt *checkFor(Context &ctx, NodeId node);
Stmt *checkParallel(Context &ctx, NodeId node);
Stmt *checkWhile(Context &ctx, NodeId node);

} // namespace ptl
