// What a loop goes through, and the variable that goes through it.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// A loop's domain, checked before its variable exists.
struct LoopDomain {
  Expr *iterable = nullptr;
  const Type *element = nullptr; ///< of the variable; null: error
  bool isTiles = false;
  Dim lo, hi, step, size; ///< as far as they are dimensions
};

/// A range, `tiles(…)`, or a list.
LoopDomain checkDomain(Context &ctx, NodeId node);
/// Declares the variable of a loop.
LoopHead bindLoop(Context &ctx, const LoopDomain &domain, NodeId pattern);

/// Whether a domain is `parts(…)`, and not a function that the file has by this name.
bool isPartsCall(Context &ctx, NodeId node);
/// `parts(N, over: [host, chip])`: what is cut, and by which levels, outermost first.
struct PartsCall {
  NodeId node = kNoNode, what = kNoNode;
  std::vector<NodeId> levels = {}; ///< empty: it is wrong, and reported
};
PartsCall readPartsCall(Context &ctx, NodeId node);
/// The tiles of what is cut that are the blocks of the parts of a level. `within` is the range that a level outside of it has left; null for
/// the outermost one.
LoopDomain checkParts(Context &ctx, const PartsCall &call, NodeId level, const RangeInfo *within);
/// Declares the range of a level outside of others, which has no name in the source.
LoopHead bindOuterParts(Context &ctx, const LoopDomain &domain, NodeId level);

} // namespace ptl
