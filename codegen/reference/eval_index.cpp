#include "codegen/reference/eval_index.h"

#include "codegen/reference/array_ops.h"
#include "codegen/reference/eval.h"
#include "codegen/reference/eval_range.h"
#include "codegen/reference/place.h"
#include "codegen/reference/written.h"

namespace ptl::reference {

namespace {

/// The text of an expression in backticks, or `otherwise` where it is long.
std::string named(RunState &run, Span span, const std::string &otherwise) {
  constexpr size_t kLongest = 40;
  std::string_view text = run.sources().text(span);
  bool isShort =
      !text.empty() && text.size() <= kLongest && text.find('\n') == std::string_view::npos;
  return isShort ? "`" + std::string(text) + "`" : otherwise;
}

/// An axis of the array that is written at `array`, in messages.
std::string ofAxis(RunState &run, Span array, size_t axis, int64_t extent) {
  std::string name = named(run, array, "");
  return "outside of 0.." + std::to_string(extent) + " (axis " + std::to_string(axis) +
         (name.empty() ? "" : " of " + name) + ")";
}

void checkRange(RunState &run, Span array, const Region::Axis &axis, int64_t extent, Span span) {
  int64_t last = axis.start + (axis.length - 1) * axis.step;
  // An empty range fits anywhere from position 0 on.
  bool fits = axis.start >= 0 && axis.length >= 0 && (axis.length == 0 || last < extent);
  if (!fits)
    stop(RunStatus::Bounds,
         "the positions " + std::to_string(axis.start) + ".." + std::to_string(last + 1) + " are " +
             ofAxis(run, array, static_cast<size_t>(axis.base), extent),
         span);
}

void addItem(RunState &run, const IndexItem &item, Span array, size_t axis,
             std::span<const int64_t> shape, bool checked, Region &region) {
  Region::Axis entry;
  entry.base = static_cast<int64_t>(axis);
  int64_t extent = shape[axis];
  if (item.kind == IndexItemKind::Position) {
    Value position = eval(run, *item.value);
    if (!position.isScalar())
      stop(RunStatus::Fault, "an integer scalar is needed", item.span);
    entry.start = position.asScalar().scalar.i;
    entry.dropped = true;
    if (checked && (entry.start < 0 || entry.start >= extent))
      stop(RunStatus::Bounds,
           "the position " + scalarText(position.asScalar().elem, position.asScalar().scalar) +
               " is " + ofAxis(run, array, axis, extent),
           item.span);
  } else if (item.kind == IndexItemKind::Range) {
    RangeValue range =
        item.value ? evalRange(run, *item.value) : rangeOfInfo(run, *item.range, item.span);
    // A range that is written in place has an end that can lie before its start.
    if (item.value && item.value->kind == ExprKind::Range) {
      // A slice that ends before its start is no empty one.
      int64_t stopAt = evalInt(run, *cast<RangeExpr>(item.value)->hi);
      if (stopAt < range.start)
        stop(RunStatus::Bounds,
             "a slice ends at " + std::to_string(stopAt) + ", before its start " +
                 std::to_string(range.start),
             item.span);
    }
    entry.start = range.start;
    entry.step = range.step;
    entry.length = range.length;
    if (checked)
      checkRange(run, array, entry, extent, item.span);
  } else if (item.kind == IndexItemKind::Gather) {
    Value indices = eval(run, *item.value);
    View view = viewOf(indices);
    entry.isGather = true;
    // All positions of the index array are checked before anything is read.
    entry.length = view.count();
    for (int64_t i = 0; i < entry.length; ++i) {
      int64_t position = view.ints[i];
      if (position < 0 || position >= extent)
        stop(RunStatus::Bounds,
             named(run, item.span, "an index array") + " holds the position " +
                 scalarText(view.elem, Scalar::integer(position)) + ", " +
                 ofAxis(run, array, axis, extent),
             item.span);
      region.positions.push_back(position);
    }
  } else {
    entry.length = extent;
  }
  region.axes.push_back(entry);
}

} // namespace

Region regionOf(RunState &run, const IndexExpr &expr, std::span<const int64_t> shape,
                bool checked) {
  Region region;
  size_t named = 0, axis = 0;
  // The axes that `..` stands for are those that no item names.
  for (const IndexItem &item : expr.items)
    named += item.kind != IndexItemKind::NewAxis && item.kind != IndexItemKind::Rest;
  auto addFull = [&] {
    Region::Axis entry;
    entry.base = static_cast<int64_t>(axis);
    entry.length = shape[axis++];
    region.axes.push_back(entry);
  };
  for (const IndexItem &item : expr.items) {
    if (item.kind == IndexItemKind::NewAxis) {
      // A new axis has no base, and so no stride.
      region.axes.push_back({});
    } else if (item.kind == IndexItemKind::Rest) {
      for (size_t i = named; i < shape.size(); ++i)
        addFull();
    } else {
      if (axis >= shape.size())
        stop(RunStatus::Fault, "more indices than axes", item.span);
      addItem(run, item, expr.base->span, axis++, shape, checked, region);
    }
  }
  // Axes behind the last item stay whole.
  while (axis < shape.size())
    addFull();
  return region;
}

Value evalIndex(RunState &run, const IndexExpr &expr) {
  // The base is not copied, and only what is selected must have been written.
  // Arrays are large, so only an expression that computes one makes a copy.
  const Value *held = peek(run, *expr.base);
  Value computed;
  if (!held)
    computed = eval(run, *expr.base);
  const Value &base = held ? *held : computed;
  // Tuples and lists are indexed by one position.
  if (base.isParts()) {
    int64_t position = evalInt(run, *expr.items[0].value);
    auto count = static_cast<int64_t>(base.asParts().size());
    if (position < 0 || position >= count)
      stop(RunStatus::Bounds,
           "the position " + std::to_string(position) + " is " +
               ofAxis(run, expr.base->span, 0, count),
           expr.span);
    return base.asParts()[static_cast<size_t>(position)];
  }
  // Reading all of an undefined value is an error of its own.
  if (base.isUndefined())
    checkWritten(run, base, expr.span);
  RefArray storage;
  const RefArray &array = asArray(base, storage);
  Region region = regionOf(run, expr, array.shape, !expr.outside);
  if (expr.outside)
    return readOutside(array, region, eval(run, *expr.outside));
  Value selected = readRegion(array, region);
  checkWritten(run, selected, expr.span);
  return selected;
}

} // namespace ptl::reference
