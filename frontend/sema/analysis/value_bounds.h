// Bounds of computed integers: the bounds that `min`, `max` and `%` imply for a value that is not a
// dimension.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Whether what computes an integer, or all elements of an array of integers, keeps it within
/// `0..extent`: `min`, `max`, `%` in an `int` that is not a dimension, `argsort`, and a `where` about
/// the elements of a parameter.
bool staysWithin(Context &ctx, const Expr *value, Dim extent);
/// Whether all positions that an integer or an array of integers holds were proved to lie within an
/// axis of that extent, by what is known of the data or by what computes them.
bool positionsWithin(Context &ctx, const Expr *positions, Dim extent);
/// Adds the bounds that `min`, `max` and `%` imply for the value of an `int` that is not a
/// dimension.
void assumeBounds(Context &ctx, const Local *local, const Expr *value);

} // namespace ptl
