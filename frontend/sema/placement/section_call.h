// Sections of programs for single parts, `on chip 0 { … }`, and the pipes between them.
#pragma once

#include "frontend/sema/calls/check_call.h"
#include "frontend/sema/context.h"

namespace ptl {

/// Checks `pipe act: f32[B, D] depth 2` in a program.
Stmt *checkPartPipe(Context &ctx, NodeId node);

/// Checks `on chip 0 { … }` in a program.
Stmt *checkPartSection(Context &ctx, NodeId node);

/// Checks `push(act, y)` and `pop(act)` in a program. The pushed value must have the type of the
/// pipe, which is also that of the popped value.
Expr *checkPartCall(Context &ctx, NodeId node, std::string_view name,
                    const std::vector<CallArgument> &args);

} // namespace ptl
