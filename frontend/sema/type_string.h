// Types as text.
#pragma once

#include "frontend/sema/types.h"

#include <string>
#include <string_view>

namespace ptl {

/// Types in the syntax of the language, with the names of the declaration: `f32[i, C]`, `T[.., C]
/// @vec`, `int`, `(f32[N], i32)`.
std::string toString(const DimContext &dims, const Type &type);
std::string toString(const DimContext &dims, const Extent &extent);
std::string toString(const Elem &elem);
std::string_view placeName(Place place);
/// `Inferred` if the name is not a place.
Place placeByName(std::string_view name);
std::string_view layoutName(Layout layout);
/// `Inferred` if the name is not a layout.
Layout layoutByName(std::string_view name);

} // namespace ptl
