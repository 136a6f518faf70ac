// `x[:, new]` and `x[step, :]` of an array on parts: axes that are cut stay as they are.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <functional>
#include <optional>

namespace ptl {

/// What an index makes of a value, its shape and where it lies; nothing where elements would have to move.
/// `prefix`: how many axes `..` stands for; `inProgram`: what a dimension is in the program.
std::optional<PlacedValue> placeIndex(DimContext &dims, const PlacedValue &base,
                                      const IndexExpr &expr, size_t prefix,
                                      const std::function<Dim(Dim)> &inProgram);

} // namespace ptl
