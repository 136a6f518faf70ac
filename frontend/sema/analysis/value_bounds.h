// Bounds of computed integers: what `min`, `max` and `%` say of a value that is no dimension.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Whether `min`, `max` and `%` in an `int` that is no dimension keep it within `0..extent`.
bool staysWithin(Context &ctx, const Expr *value, Dim extent);
/// Adds what `min`, `max` and `%` in the value of an `int` that is no dimension say of it.
void assumeBounds(Context &ctx, const Local *local, const Expr *value);

} // namespace ptl
