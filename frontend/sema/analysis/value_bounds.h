// Bounds of computed integers: the bounds that `min`, `max` and `%` imply for a value that is not a
// dimension.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Whether `min`, `max` and `%` in an `int` that is not a dimension keep it within `0..extent`.
bool staysWithin(Context &ctx, const Expr *value, Dim extent);
/// Adds the bounds that `min`, `max` and `%` imply for the value of an `int` that is not a
/// dimension.
void assumeBounds(Context &ctx, const Local *local, const Expr *value);

} // namespace ptl
