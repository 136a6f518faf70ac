#include "frontend/sema/calls/op_call.h"

#include "frontend/sema/types/make_type.h"

#include <algorithm>

namespace ptl {

template <typename T>
static const T *findNamed(const std::vector<std::pair<std::string_view, T>> &list,
                          std::string_view name) {
  for (const auto &[each, value] : list)
    if (each == name)
      return &value;
  return nullptr;
}

Expr *OpCall::other(std::string_view name) const {
  Expr *const *found = findNamed(others, name);
  return found ? *found : nullptr;
}

const Shape *OpCall::shape(std::string_view name) const { return findNamed(shapes, name); }
const Extent *OpCall::dim(std::string_view name) const { return findNamed(dims, name); }
Span OpCall::spanOf(std::string_view name) const {
  const Span *found = findNamed(spans, name);
  return found ? *found : span;
}

std::optional<std::vector<int64_t>> normalizeAxes(Context &ctx, const OpCall &call,
                                                  const Shape &shape) {
  std::vector<int64_t> axes;
  auto rank = static_cast<int64_t>(shape.rank());
  auto type = [&] {
    return call.values.empty() || !call.values.front().expr
               ? toString(ctx, shape)
               : toString(ctx, call.values.front().expr->type);
  };
  for (size_t i = 0; i < call.axes->size(); ++i) {
    int64_t axis = (*call.axes)[i];
    Span span = i < call.axisSpans.size() ? call.axisSpans[i] : call.span;
    // Axes are counted from the end throughout, because `..` leaves open how many there are in
    // front.
    int64_t fromEnd = axis < 0 ? axis : axis - rank;
    if (axis >= 0 && shape.prefix) {
      auto report = ctx.sink.report(DiagId::AxisBehindPrefix, span, {std::to_string(axis), type()});
      report.note("`..` stands for any number of leading axes; count from the end");
      return std::nullopt;
    }
    if (fromEnd < -rank || fromEnd >= 0) {
      ctx.sink
          .report(DiagId::AxisOutOfRange, span,
                  {std::to_string(axis), type(), std::to_string(rank)})
          .help("axes are counted from 0 to " + std::to_string(rank - 1) +
                ", or from the end from -1 to " + std::to_string(-rank));
      return std::nullopt;
    }
    if (std::find(axes.begin(), axes.end(), fromEnd) != axes.end()) {
      ctx.sink.report(DiagId::AxisTwice, span, {std::to_string(axis)});
      return std::nullopt;
    }
    axes.push_back(fromEnd);
  }
  return axes;
}

} // namespace ptl
