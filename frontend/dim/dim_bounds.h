// Bounds of dimensions that follow from the kinds of their symbols alone, without any facts.
#pragma once

#include "frontend/dim/dim_impl.h"

namespace ptl::dims {

/// Adds the least value of `coefficient * monomial`; false if there may be none.
bool addPlainBound(const DimContext &context, int64_t coefficient, const DimMonomial &monomial,
                   int64_t &sum);

/// `DimContext::isPlainlyAtLeast`, without making the difference of `a` and `b`, which most comparisons need for this answer alone.
bool isPlainlyAtLeast(const DimContext &context, Dim a, Dim b);

} // namespace ptl::dims
