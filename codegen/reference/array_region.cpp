#include "codegen/reference/array_region.h"

#include "codegen/reference/array_ops.h"
#include "codegen/reference/ops_elementwise.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace ptl::reference {

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

void updateElements(RefArray &base, int64_t offset, std::span<const int64_t> strides,
                    const RefArray &from, int64_t fromOffset, std::span<const int64_t> fromStrides,
                    const std::vector<int64_t> &shape, AssignMode mode) {
  OpId op = combiningOp(mode);
  Walk walk;
  walk.shape = shape;
  walk.strides[0].assign(strides.begin(), strides.end());
  walk.strides[1].assign(fromStrides.begin(), fromStrides.end());
  forRows(std::move(walk), 2, [&](const Offsets &at, const Offsets &step, int64_t length, int64_t) {
    for (int64_t i = 0; i < length; ++i) {
      int64_t to = offset + at[0] + i * step[0];
      Scalar args[] = {base.at(to), from.at(fromOffset + at[1] + i * step[1])}, result;
      evalScalar(op, base.elem, args, result);
      // Each element is rounded to its type at once, as an assignment of the sum would be.
      base.set(to, roundScalar(result, base.elem));
    }
  });
}

} // namespace

std::vector<int64_t> Region::shape() const {
  std::vector<int64_t> shape;
  for (const Axis &axis : axes)
    if (!axis.dropped)
      shape.push_back(axis.length);
  return shape;
}

OpId combiningOp(AssignMode mode) {
  return mode == AssignMode::AtomicAdd   ? OpId::Add
         : mode == AssignMode::AtomicMax ? OpId::Max
                                         : OpId::Min;
}

Value readRegion(const RefArray &base, const Region &region) {
  Placement placed = placementOf(region, base.shape);
  // All axes have a position, so the result is a scalar.
  if (placed.shape.empty()) {
    // Elements that were never written are undefined.
    if (!base.defined.empty() && !base.defined[static_cast<size_t>(placed.offset)])
      return Value::undefined();
    return Value::scalar(base.elem, base.at(placed.offset));
  }
  RefArray result = zeroArray(base.elem, placed.shape);
  std::vector<int64_t> dense = denseStrides(result.shape);
  forGathered(placed, region, [&](int64_t from, int64_t k, const std::vector<int64_t> &shape) {
    int64_t to = placed.gatherAxis ? k * dense[*placed.gatherAxis] : 0;
    copyStrided(result, to, dense, base, from, placed.strides, shape);
  });
  return Value::array(std::move(result));
}

Value readOutside(const RefArray &base, const Region &region, const Value &outside) {
  // The part inside is copied over an array of that value.
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

void writeRegion(RefArray &base, const Region &region, const Value &value, AssignMode mode,
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
