// A `fn` that says `where associative`.
#pragma once

#include "frontend/sema/checked_tree.h"

namespace ptl {

struct Context;

/// Whether `scan` and `reduce` accept the `fn`: `f(f(a, b), c)` is `f(a, f(b, c))`, up to rounding.
/// It has two parameters for each of its results, and its body is elementwise.
bool isAssociative(const CallableDecl &decl);

/// Reads `where associative` of a `fn`, whose parameters are two values for each of its results;
/// false: another requirement.
bool readAssociative(Context &ctx, NodeId condition, WhereClause *clause);
/// Checks that the body of an associative `fn` works on each position by itself, because a step of
/// a `scan` is done for many positions at once. Reports operations that mix positions.
void checkElementwise(Context &ctx, const CallableDecl &decl);

} // namespace ptl
