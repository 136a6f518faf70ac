// A `fn` that says `where associative`.
#pragma once

#include "frontend/sema/checked_tree.h"

namespace ptl {

/// Whether `scan` and `reduce` may take it: `f(f(a, b), c)` is `f(a, f(b, c))`, up to rounding. Its
/// parameters are two values for each of its results, and its body is elementwise.
bool isAssociative(const CallableDecl &decl);

} // namespace ptl
