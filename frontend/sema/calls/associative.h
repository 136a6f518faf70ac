// Functions (`fn`) with the requirement `where associative`.
#pragma once

#include "frontend/sema/checked_tree.h"

namespace ptl {

struct Context;

/// Whether `scan` and `reduce` accept the `fn`: it promises that `f(f(a, b), c)` is `f(a, f(b, c))`
/// up to rounding, has two parameters for each of its results, and its body is elementwise.
bool isAssociative(const CallableDecl &decl);

/// Reads `where associative` of a `fn`, whose parameters must be two values for each of its
/// results; false if the condition is another requirement.
bool readAssociative(Context &ctx, NodeId condition, WhereClause *clause);
/// Checks that the body of an associative `fn` is elementwise, because a step of a `scan` is
/// computed for many positions at once. Reports operations that mix positions.
void checkElementwise(Context &ctx, const CallableDecl &decl);

} // namespace ptl
