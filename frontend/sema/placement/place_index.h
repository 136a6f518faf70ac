// Placement of `x[:, new]` and `x[step, :]` for an array on parts: axes that are cut must stay as
// they are.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <functional>
#include <optional>

namespace ptl {

/// The shape and placement of an index expression; nothing if elements would have to move. `prefix`
/// is the number of axes of `..`; `inProgram` translates a dimension to the program's symbols.
std::optional<PlacedValue> placeIndex(DimContext &dims, const PlacedValue &base,
                                      const IndexExpr &expr, size_t prefix,
                                      const std::function<Dim(Dim)> &inProgram);

} // namespace ptl
