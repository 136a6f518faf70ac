// Indexing: what the items select, with every bound checked, and reading and writing there.
#include "codegen/reference/machine.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace ptl::reference {

std::vector<int64_t> Region::shape() const {
  std::vector<int64_t> shape;
  for (const Axis &axis : axes)
    if (!axis.dropped)
      shape.push_back(axis.length);
  return shape;
}

// ---- Items -------------------------------------------------------------------------------------

static std::string ofAxis(size_t axis, int64_t extent) {
  return "outside of 0.." + std::to_string(extent) + " (axis " + std::to_string(axis) + ")";
}

static void checkRange(const Region::Axis &axis, int64_t extent, Span span) {
  int64_t last = axis.start + (axis.length - 1) * axis.step;
  // An empty range fits anywhere from position 0 on.
  bool fits = axis.start >= 0 && axis.length >= 0 && (axis.length == 0 || last < extent);
  if (!fits)
    stop(RunStatus::Bounds,
         "the positions " + std::to_string(axis.start) + ".." + std::to_string(last + 1) + " are " +
             ofAxis(static_cast<size_t>(axis.base), extent),
         span);
}

void Machine::addItem(const IndexItem &item, size_t axis, std::span<const int64_t> shape,
                      bool checked, Region &region) {
  Region::Axis entry;
  entry.base = static_cast<int64_t>(axis);
  int64_t extent = shape[axis];
  if (item.kind == IndexItemKind::Position) {
    entry.start = evalInt(*item.value);
    entry.dropped = true;
    if (checked && (entry.start < 0 || entry.start >= extent))
      stop(RunStatus::Bounds,
           "the position " + std::to_string(entry.start) + " is " + ofAxis(axis, extent),
           item.span);
  } else if (item.kind == IndexItemKind::Range) {
    RangeValue range = item.value ? evalRange(*item.value) : rangeOfInfo(*item.range, item.span);
    // A range that is written in place has an end that can lie before its start.
    if (item.value && item.value->kind ==
                          ExprKind::Range) { // A slice that ends before its start is no empty one.
      int64_t stopAt = evalInt(*cast<RangeExpr>(item.value)->hi);
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
      checkRange(entry, extent, item.span);
  } else if (item.kind == IndexItemKind::Gather) {
    Value indices = eval(*item.value);
    View view = viewOf(indices);
    entry.isGather = true;
    // All positions of the index array are checked before anything is read.
    entry.length = view.count();
    for (int64_t i = 0; i < entry.length; ++i) {
      int64_t position = view.ints[i];
      if (position < 0 || position >= extent)
        stop(RunStatus::Bounds,
             "an index array holds the position " + std::to_string(position) + ", " +
                 ofAxis(axis, extent),
             item.span);
      region.positions.push_back(position);
    }
  } else {
    entry.length = extent;
  }
  region.axes.push_back(entry);
}

Region Machine::regionOf(const IndexExpr &expr, std::span<const int64_t> shape, bool checked) {
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
      addItem(item, axis++, shape, checked, region);
    }
  }
  // Axes behind the last item stay whole.
  while (axis < shape.size())
    addFull();
  return region;
}

namespace {

/// Where a region lies in its base; a gathered axis is left at its first position.
struct Placement {
  int64_t offset = 0;
  std::vector<int64_t> shape, strides; ///< of the axes that stay
  int64_t gatherStride = 0;
  std::optional<size_t> gatherAxis; ///< among those
};

Placement placementOf(const Region &region, std::span<const int64_t> baseShape) {
  std::vector<int64_t> dense = denseStrides(baseShape);
  Placement placed;
  for (const Region::Axis &axis : region.axes) {
    // A new axis does not move in the base.
    int64_t stride = axis.base < 0 ? 0 : dense[static_cast<size_t>(axis.base)];
    placed.offset += axis.start * stride;
    // A single position only adds to the offset.
    if (axis.dropped)
      continue;
    if (axis.isGather) {
      placed.gatherStride = stride;
      placed.gatherAxis = placed.shape.size();
    }
    placed.shape.push_back(axis.length);
    // A gathered axis is walked by its positions instead.
    placed.strides.push_back(axis.isGather ? 0 : stride * axis.step);
  }
  return placed;
}

/// Calls `copy(offset in the base, offset along the gathered axis, shape)` for each run without a
/// gather.
template <typename Copy>
void forGathered(const Placement &placed, const Region &region, Copy copy) {
  if (!placed.gatherAxis) {
    copy(placed.offset, int64_t{0}, placed.shape);
    return;
  }
  std::vector<int64_t> shape = placed.shape;
  // Each position of the index array is a copy of one slice.
  shape[*placed.gatherAxis] = 1;
  for (size_t k = 0; k < region.positions.size(); ++k)
    copy(placed.offset + region.positions[k] * placed.gatherStride, static_cast<int64_t>(k), shape);
}

} // namespace

// ---- Reading -----------------------------------------------------------------------------------

Value Machine::readRegion(const RefArray &base, const Region &region, const IndexExpr &expr) {
  Placement placed = placementOf(region, base.shape);
  // All axes have a position, so the result is a scalar.
  if (placed.shape.empty()) {
    // Elements that were never written are undefined.
    if (!base.defined.empty() && !base.defined[static_cast<size_t>(placed.offset)])
      return readable(Value::undefined(), expr);
    return Value::scalar(base.elem, base.at(placed.offset));
  }
  RefArray result = zeroArray(base.elem, placed.shape);
  std::vector<int64_t> dense = denseStrides(result.shape);
  forGathered(placed, region, [&](int64_t from, int64_t k, const std::vector<int64_t> &shape) {
    int64_t to = placed.gatherAxis ? k * dense[*placed.gatherAxis] : 0;
    copyStrided(result, to, dense, base, from, placed.strides, shape);
  });
  return readable(Value::array(std::move(result)), expr);
}

/// Positions beyond the edges hold `outside`: the part inside is copied over an array of that
/// value.
Value Machine::readOutside(const RefArray &base, const Region &region, Value outside) {
  Region inside = region;
  std::vector<int64_t> skipped; // per axis that stays
  bool isEmpty = false;
  // Each axis is cut to the part that lies inside.
  for (Region::Axis &axis : inside.axes) {
    int64_t skip = 0;
    if (axis.base >= 0) {
      int64_t extent = base.shape[static_cast<size_t>(axis.base)];
      if (axis.dropped) {
        // A single position that lies outside leaves nothing to copy.
        isEmpty |= axis.start < 0 || axis.start >= extent;
      } else {
        // The steps before position 0 are skipped, rounded up.
        skip = axis.start < 0 ? std::min(axis.length, (-axis.start - 1) / axis.step + 1) : 0;
        axis.start += skip * axis.step;
        int64_t fitting = axis.start >= extent ? 0 : (extent - axis.start - 1) / axis.step + 1;
        axis.length = std::min(axis.length - skip, fitting);
        isEmpty |= axis.length <= 0;
      }
    }
    if (!axis.dropped)
      skipped.push_back(skip);
  }
  Value result = fullValue(base.elem, region.shape(), outside.asScalar().scalar);
  if (isEmpty)
    return result;
  Placement placed = placementOf(inside, base.shape);
  if (placed.shape.empty())
    return Value::scalar(base.elem, base.at(placed.offset));
  std::vector<int64_t> dense = denseStrides(result.shape());
  // The part inside begins behind what was skipped in the result.
  int64_t to = std::inner_product(dense.begin(), dense.end(), skipped.begin(), int64_t{0});
  copyStrided(result.mutableArray(), to, dense, base, placed.offset, placed.strides, placed.shape);
  return result;
}

/// The variable, or field of one, that an expression names; null when it names none.
const Value *Machine::peek(const Expr &expr) {
  if (expr.kind == ExprKind::LocalRef)
    return &local(*cast<LocalRefExpr>(expr).local);
  if (expr.kind != ExprKind::Field)
    return nullptr;
  const auto &field = cast<FieldExpr>(expr);
  const Value *base = peek(*field.base);
  return base && base->isParts() ? &base->asParts()[field.fieldIndex] : nullptr;
}

Value Machine::evalIndex(const IndexExpr &expr) {
  // The base is not copied, and only what is selected must have been written.
  // Arrays are large, so only an expression that computes one makes a copy.
  const Value *held = peek(*expr.base);
  Value computed;
  if (!held)
    computed = eval(*expr.base);
  const Value &base = held ? *held : computed;
  // Tuples and lists are indexed by one position.
  if (base.isParts()) {
    int64_t position = evalInt(*expr.items[0].value);
    auto count = static_cast<int64_t>(base.asParts().size());
    if (position < 0 || position >= count)
      stop(RunStatus::Bounds,
           "the position " + std::to_string(position) + " is " + ofAxis(0, count), expr.span);
    return base.asParts()[static_cast<size_t>(position)];
  }
  // Reading all of an undefined value is an error of its own.
  if (base.isUndefined())
    return readable(base, expr);
  RefArray storage;
  const RefArray &array = asArray(base, storage);
  Region region = regionOf(expr, array.shape, !expr.outside);
  return expr.outside ? readOutside(array, region, eval(*expr.outside))
                      : readRegion(array, region, expr);
}

// ---- Writing -----------------------------------------------------------------------------------

/// Evaluates an expression to a place that can be written.
Value &Machine::place(const Expr &expr) {
  if (expr.kind == ExprKind::LocalRef)
    return local(*cast<LocalRefExpr>(expr).local);
  if (expr.kind == ExprKind::Field) {
    const auto &field = cast<FieldExpr>(expr);
    Value &base = place(*field.base);
    if (base.isParts())
      // Fields of fields are places as well.
      return base.mutableParts()[field.fieldIndex];
  }
  stop(RunStatus::Fault, "this is no place that can be written", expr.span);
}

static void updateElements(RefArray &base, int64_t offset, std::span<const int64_t> strides,
                           const RefArray &from, int64_t fromOffset,
                           std::span<const int64_t> fromStrides, const std::vector<int64_t> &shape,
                           AssignMode mode) {
  OpId op = mode == AssignMode::AtomicAdd   ? OpId::Add
            : mode == AssignMode::AtomicMax ? OpId::Max
                                            : OpId::Min;
  Walk walk;
  walk.shape = shape;
  walk.strides[0].assign(strides.begin(), strides.end());
  walk.strides[1].assign(fromStrides.begin(), fromStrides.end());
  forRows(std::move(walk), 2, [&](const Offsets &at, const Offsets &step, int64_t length, int64_t) {
    for (int64_t i = 0; i < length; ++i) {
      int64_t to = offset + at[0] + i * step[0];
      Scalar args[] = {base.at(to), from.at(fromOffset + at[1] + i * step[1])}, result;
      evalScalar(op, base.elem, args, result);
      base.set(to, roundScalar(result, base.elem));
    }
  });
}

void Machine::writeRegion(RefArray &base, const Region &region, const Value &value, AssignMode mode,
                          Span span) {
  RefArray storage;
  const RefArray &from = asArray(value, storage);
  Placement placed = placementOf(region, base.shape);
  std::vector<int64_t> fromStrides = broadcastStrides(from.shape, placed.shape);
  // Storing two values to one place would leave the order open.
  if (placed.gatherAxis && mode == AssignMode::Set) {
    std::set<int64_t> seen;
    for (int64_t position : region.positions)
      if (!seen.insert(position).second)
        stop(RunStatus::Where,
             "the index array of a store holds the position " + std::to_string(position) + " twice",
             span);
  }
  forGathered(placed, region, [&](int64_t to, int64_t k, const std::vector<int64_t> &shape) {
    int64_t at = placed.gatherAxis ? k * fromStrides[*placed.gatherAxis] : 0;
    if (mode == AssignMode::Set)
      copyStrided(base, to, placed.strides, from, at, fromStrides, shape);
    else
      updateElements(base, to, placed.strides, from, at, fromStrides, shape, mode);
  });
}

} // namespace ptl::reference
