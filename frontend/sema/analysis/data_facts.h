// Facts about data, such as `where all(idx < V), all(idx >= 0)`, as bounds of the elements of index
// arrays.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Whether a `where` about data states that all elements of the parameter which an index expression
/// reads are valid positions of an axis of that extent.
bool elementsWithin(Context &ctx, const Expr *index, Dim extent);
/// The same for all elements of an array.
bool valuesWithin(Context &ctx, const Local *array, Dim extent);
/// Dimensions that are lower bounds (`below`) or upper bounds of an element of a parameter,
/// `len[b]`, or of all elements of it or of a part, by the requirements.
std::vector<Dim> elementBounds(Context &ctx, const Expr *element, bool below);
/// The operand of conversions that preserve all values of its type.
const Expr *withoutConversion(Context &ctx, const Expr *expr);
/// The integer operand of conversions that are injective.
const Expr *withoutWidening(const Expr *expr);

} // namespace ptl
