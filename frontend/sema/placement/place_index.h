// `x[:, new]`, and `x[0]` of an axis of extent 1, of an array on parts: the same elements with other axes.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <optional>

namespace ptl {

/// What an index makes of a value, its shape and where it lies; nothing where elements would have to move.
/// `prefix`: how many axes `..` stands for.
std::optional<PlacedValue> placeIndex(DimContext &dims, const PlacedValue &base,
                                      const IndexExpr &expr, size_t prefix);

} // namespace ptl
