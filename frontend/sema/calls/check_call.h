// Calls: what the callee is, its arguments as written, conversions.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// An argument as written.
struct CallArgument {
  std::string_view name; ///< empty: positional
  NodeId node = kNoNode; ///< the `Arg`
  NodeId value = kNoNode;
  bool isInout = false;
  Span span;
};
/// Splits the arguments of a `CallExpr`; reports positional ones after named ones.
std::vector<CallArgument> callArguments(Context &ctx, NodeId node);

/// A call of whatever kind: a conversion `f16(x)`, a callable, a struct, a built-in, a call of the
/// block level.
Expr *checkCall(Context &ctx, NodeId node, const Type *expected);

} // namespace ptl
