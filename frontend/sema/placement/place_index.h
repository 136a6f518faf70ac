// An index expression on parts: `x[:, new]`, `x[step, a..b]`, `table[rows, :]`. Axes that are cut
// must stay as they are.
#pragma once

#include "frontend/sema/placement/axis_rule.h"

#include <functional>
#include <optional>

namespace ptl {

struct PlacedIndex {
  PlacedValue value; ///< without placement and operands
  AxisRule rule;     ///< how its axes come from those of the base, and of an array of positions
  /// The operands after the base: positions that are data, and what lies beyond the edges.
  std::vector<const Expr *> operands;
};

/// Of a base that is a block of an array: where the positions of the index begin along an axis that is cut, and the length of the block.
struct IndexOrigin {
  size_t axis = 0;
  Dim start, length;
};

/// What is done at an index: its elements are read, or others are stored there.
enum class IndexUse : uint8_t { Read, Store };

/// The index expression `expr` on `base`; nothing if the length of a range in it depends on data. `prefix` is the
/// number of axes of `..`; `inProgram` translates a dimension to the program's symbols, and `isKnown`
/// says whether it is the same number on all parts, `isPosition` whether it is so when the program runs.
std::optional<PlacedIndex>
placeIndex(DimContext &dims, const PlacedValue &base, const IndexExpr &expr, size_t prefix,
           const std::function<Dim(Dim)> &inProgram, const std::function<bool(Dim)> &isKnown,
           const std::function<bool(Dim)> &isPosition, IndexUse use = IndexUse::Read,
           std::span<const IndexOrigin> origins = {});

/// The rule of an assignment to an index: of the array, the value that is assigned, and positions.
/// `rule` is that of the index, `region` the shape that it selects, and `value` that of the value.
AxisRule storeRule(AxisRule rule, std::span<const Dim> region, std::span<const Dim> value);

} // namespace ptl
