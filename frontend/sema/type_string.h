// Types as text.
#pragma once

#include "frontend/sema/types.h"

#include <string>
#include <string_view>

namespace ptl {

/// Types in PTL spelling with the names of the declaration: `f32[i, C]`, `T[.., C] @vec`, `int`,
/// `(f32[N], i32)`.
std::string toString(const DimContext &dims, const Type &type);
std::string toString(const DimContext &dims, const Extent &extent);
std::string toString(const Elem &elem);
std::string_view placeName(Place place);
std::string_view layoutName(Layout layout);

} // namespace ptl
