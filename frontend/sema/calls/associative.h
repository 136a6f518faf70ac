// A `fn` that says `where associative`.
#pragma once

#include "frontend/sema/checked_tree.h"

namespace ptl {

struct Context;

/// Whether `scan` and `reduce` may take it: `f(f(a, b), c)` is `f(a, f(b, c))`, up to rounding. Its
/// parameters are two values for each of its results, and its body is elementwise.
bool isAssociative(const CallableDecl &decl);

/// Reads `where associative` of a `fn`, whose parameters are two values for each of its results;
/// false: another requirement.
bool readAssociative(Context &ctx, NodeId condition, WhereClause *clause);
/// The body of an associative `fn` keeps positions apart: steps of a `scan` are done for many at
/// once. Reports what does not.
void checkElementwise(Context &ctx, const CallableDecl &decl);

} // namespace ptl
