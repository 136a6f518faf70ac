// Calls: the callee, the arguments as written, and conversions.
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
/// Splits the arguments of a `CallExpr`; reports positional arguments after named ones.
std::vector<CallArgument> callArguments(Context &ctx, NodeId node);

/// Checks a call of any kind: a conversion `f16(x)`, a callable, a struct, a built-in, or a call of
/// the block level.
Expr *checkCall(Context &ctx, NodeId node, const Type *expected);

} // namespace ptl
