#include "frontend/sema/placement/place_index.h"

#include <algorithm>

namespace ptl {

std::optional<PlacedValue> placeIndex(DimContext &dims, const PlacedValue &base,
                                      const IndexExpr &expr, size_t prefix,
                                      const std::function<Dim(Dim)> &inProgram) {
  PlacedValue made = base;
  std::vector<Dim> shape;
  std::vector<std::optional<size_t>> axes; // of the base, per axis of the result
  std::vector<std::pair<size_t, Dim>> positions;
  size_t next = 0;
  auto keep = [&](size_t count) {
    for (size_t i = 0; i < count && next < made.shape.size(); ++i, ++next) {
      shape.push_back(made.shape[next]);
      axes.push_back(next);
    }
  };
  for (const IndexItem &item : expr.items) {
    bool isNumber =
        item.kind == IndexItemKind::Position && next < made.shape.size() && item.value->dim;
    if (item.kind == IndexItemKind::NewAxis) {
      shape.push_back(dims.constant(1));
      axes.push_back(std::nullopt);
    } else if (item.kind == IndexItemKind::Full) {
      keep(1);
    } else if (item.kind == IndexItemKind::Rest) {
      keep(item.restCount + (item.restHasPrefix ? prefix : 0));
    } else if (isNumber && std::ranges::none_of(made.placement, [&](const LevelPlacement &at) {
                 return at.cuts(static_cast<int64_t>(next) -
                                static_cast<int64_t>(made.shape.size()));
               })) {
      // One position of an axis that is cut lies on one part only, so it is no index of what each
      // part has.
      // Position 0 of an axis of length 1 only drops the axis, which is a change of the shape.
      if (!made.shape[next].isConstant(1) || !item.value->dim.isConstant(0))
        positions.emplace_back(next, inProgram(item.value->dim));
      ++next;
    } else {
      return std::nullopt;
    }
  }
  keep(made.shape.size() - next);
  for (LevelPlacement &at : made.placement)
    if (at.isCut()) {
      size_t cut = made.shape.size() - static_cast<size_t>(-at.axis);
      // The cut axis was not indexed, so it is an axis of the result, only counted otherwise.
      auto place = std::ranges::find(axes, std::optional(cut));
      at.axis = (place - axes.begin()) - static_cast<int64_t>(axes.size());
    }
  made.kind = positions.empty() ? PlacedKind::Reshape : PlacedKind::Index;
  made.positions = std::move(positions);
  made.expr = &expr;
  made.shape = std::move(shape);
  return made;
}

} // namespace ptl
