#include "frontend/sema/placement/place_index.h"

#include <algorithm>

namespace ptl {

std::optional<PlacedValue> placeIndex(DimContext &dims, const PlacedValue &base,
                                      const IndexExpr &expr, size_t prefix) {
  PlacedValue made = base;
  std::vector<Dim> shape;
  std::vector<std::optional<size_t>> axes; // of the base, per axis of the result
  size_t next = 0;
  auto keep = [&](size_t count) {
    for (size_t i = 0; i < count && next < made.shape.size(); ++i, ++next) {
      shape.push_back(made.shape[next]);
      axes.push_back(next);
    }
  };
  for (const IndexItem &item : expr.items) {
    bool isOne = item.kind == IndexItemKind::Position && next < made.shape.size() &&
                 made.shape[next].isConstant(1);
    if (item.kind == IndexItemKind::NewAxis) {
      shape.push_back(dims.constant(1));
      axes.push_back(std::nullopt);
    } else if (item.kind == IndexItemKind::Full) {
      keep(1);
    } else if (item.kind == IndexItemKind::Rest) {
      keep(item.restCount + (item.restHasPrefix ? prefix : 0));
    } else if (isOne && std::ranges::none_of(made.placement, [&](const LevelPlacement &at) {
                 return at.cuts(static_cast<int64_t>(next) -
                                static_cast<int64_t>(made.shape.size()));
               })) {
      ++next;
    } else {
      return std::nullopt;
    }
  }
  keep(made.shape.size() - next);
  for (LevelPlacement &at : made.placement)
    if (at.isCut()) {
      size_t cut = made.shape.size() - static_cast<size_t>(-at.axis);
      auto place = std::ranges::find(axes, std::optional(cut));
      at.axis = (place - axes.begin()) - static_cast<int64_t>(axes.size());
    }
  made.kind = PlacedKind::Reshape;
  made.expr = &expr;
  made.shape = std::move(shape);
  return made;
}

} // namespace ptl
