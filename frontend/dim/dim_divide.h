// The normal form of a division.
#pragma once

#include "frontend/dim/dim_impl.h"

namespace ptl::dims {

/// `DimContext::floorDiv`: what divides exactly is taken out, common factors are cancelled, and nested quotients become one, so that
/// equal quotients have one form.
Dim quotient(DimContext &context, DimContext::Impl &impl, Dim a, Dim b);

} // namespace ptl::dims
