// Loops: what their variables are, what holds inside, and their modifiers.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

Stmt *checkFor(Context &ctx, NodeId node);
Stmt *checkParallel(Context &ctx, NodeId node);
Stmt *checkWhile(Context &ctx, NodeId node);

} // namespace ptl
