// Facts about data, `where all(idx < V), all(idx >= 0)`, as bounds of index arrays.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Whether a `where` about data says that all elements of the parameter that an index reads are
/// positions of an axis of that extent.
bool elementsWithin(Context &ctx, const Expr *index, Dim extent);
/// The same of all elements of an array.
bool valuesWithin(Context &ctx, const Local *array, Dim extent);
/// Dimensions that an element of a parameter, `len[b]`, is no less than (`below`), or no more than,
/// by the requirements.
std::vector<Dim> elementBounds(Context &ctx, const Expr *element, bool below);
/// A value before conversions that leave all values of its type as they are.
const Expr *withoutConversion(Context &ctx, const Expr *expr);
/// The integer before conversions that keep different integers different.
const Expr *withoutWidening(const Expr *expr);

} // namespace ptl
