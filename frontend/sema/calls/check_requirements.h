// What a callee requires, proved by the caller or left for run time.
#pragma once

#include "frontend/sema/calls/unify.h"

namespace ptl {

/// Proves what a callee requires of a call, or leaves it to be checked when it runs; false where it
/// never holds (reported).
bool checkRequirements(Context &ctx, NodeId node, Unifier &unifier, const CallableDecl &callee,
                       CallExpr *call);

} // namespace ptl
