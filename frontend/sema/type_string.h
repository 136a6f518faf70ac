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
/// `Inferred` for what is none.
Place placeByName(std::string_view name);
std::string_view layoutName(Layout layout);
/// `Inferred` for what is none.
Layout layoutByName(std::string_view name);

} // namespace ptl
