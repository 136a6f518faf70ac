// The requirements of a callee: proved at the call, or left to run time.
#pragma once

#include "frontend/sema/calls/unify.h"

namespace ptl {

/// Proves the requirements of a callee, or records them as run-time checks. Returns false if one
/// can never hold, which is reported.
bool checkRequirements(Context &ctx, NodeId node, Unifier &unifier, const CallableDecl &callee,
                       CallExpr *call);

} // namespace ptl
