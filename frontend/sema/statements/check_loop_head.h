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
/// `parts(N, over: chip)`: the tiles of `N` that are the blocks of the chips.
LoopDomain checkParts(Context &ctx, NodeId node);

} // namespace ptl
