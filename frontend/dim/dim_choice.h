// The normal form of `min` and `max`.
#pragma once

#include "frontend/dim/dim_impl.h"

namespace ptl::dims {

/// Choices within choices are flattened, operands that another one is known to beat are dropped, and what all operands have in
/// common is taken out. Unknown if an operand is.
Dim choice(DimContext &context, DimContext::Impl &impl, DimAtomKind kind,
           std::vector<Dim> operands);

} // namespace ptl::dims
