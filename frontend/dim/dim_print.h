// PTL spelling of dimensions. The normal form knows one division; here `cdiv` and `%` are found
// again: both are tried for each division, and taken where they make the sum shorter.
#pragma once

#include "frontend/dim/dim_impl.h"

#include <string>

namespace ptl::dims {

/// `DimContext::toString`.
std::string spelled(DimContext &context, DimContext::Impl &impl, Dim a);

} // namespace ptl::dims
