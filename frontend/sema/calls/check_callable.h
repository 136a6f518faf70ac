// Calls of `fn`s, kernels, programs and struct constructors: matches arguments with parameters,
// unifies dimensions, and proves requirements or leaves them to run time.
#pragma once

#include "frontend/sema/calls/check_call.h"

namespace ptl {

Expr *checkCallable(Context &ctx, NodeId node, const CallableDecl &callee,
                    const std::vector<CallArgument> &args);
Expr *checkStructMake(Context &ctx, NodeId node, const StructDecl &decl,
                      const std::vector<CallArgument> &args);
/// A call with one checked value for each parameter.
Expr *callOn(Context &ctx, NodeId node, const CallableDecl &callee,
             const std::vector<Expr *> &values);

} // namespace ptl
