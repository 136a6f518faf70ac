// Sections of programs for parts, `on chip 0 { … }`, and pipes between them.
#pragma once

#include "frontend/sema/calls/check_call.h"
#include "frontend/sema/context.h"

namespace ptl {

/// `pipe act: f32[B, D] depth 2` in a program.
Stmt *checkPartPipe(Context &ctx, NodeId node);

/// `on chip 0 { … }` in a program.
Stmt *checkPartSection(Context &ctx, NodeId node);

/// `push(act, y)` and `pop(act)` in a program. What is pushed has the type of the pipe, and so has what is popped.
Expr *checkPartCall(Context &ctx, NodeId node, std::string_view name,
                    const std::vector<CallArgument> &args);

} // namespace ptl
