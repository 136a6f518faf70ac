#include "ir/execute/boxes.h"

#include "codegen/reference/array_ops.h"

#include <algorithm>

namespace ptl::execute {

using reference::RefArray;
using reference::Value;

static bool isDropped(const Box &box, size_t axis) {
  return std::find(box.dropped.begin(), box.dropped.end(), static_cast<int64_t>(axis)) !=
         box.dropped.end();
}

bool Box::isInside(std::span<const int64_t> shape) const {
  bool isEmpty = std::any_of(lengths.begin(), lengths.end(), [](int64_t n) { return n <= 0; });
  for (size_t axis = 0; axis < offsets.size() && !isEmpty; ++axis) {
    int64_t first = offsets[axis], last = first + (lengths[axis] - 1) * steps[axis];
    if (std::min(first, last) < 0 || std::max(first, last) >= shape[axis])
      return false;
  }
  return true;
}

std::vector<int64_t> Box::shape() const {
  std::vector<int64_t> kept;
  for (size_t axis = 0; axis < lengths.size(); ++axis)
    if (!isDropped(*this, axis))
      kept.push_back(std::max<int64_t>(lengths[axis], 0));
  return kept;
}

/// Calls `visit(positions in the box, number)` for every position, in order; it returns false to
/// end.
template <typename Visit> static bool forEach(const Box &box, Visit visit) {
  if (reference::elementCount(box.shape()) == 0 ||
      std::any_of(box.lengths.begin(), box.lengths.end(), [](int64_t n) { return n <= 0; }))
    return true;
  std::vector<int64_t> at(box.lengths.size(), 0);
  for (int64_t number = 0;; ++number) {
    if (!visit(at, number))
      return false;
    size_t axis = at.size();
    while (axis-- > 0) {
      if (++at[axis] < box.lengths[axis])
        break;
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1))
      return true;
  }
}

/// The element at a position of the box; nothing beyond the edges.
static std::optional<int64_t> elementAt(const Box &box, std::span<const int64_t> at,
                                        std::span<const int64_t> shape) {
  int64_t element = 0;
  for (size_t axis = 0; axis < at.size(); ++axis) {
    int64_t position = box.offsets[axis] + at[axis] * box.steps[axis];
    if (position < 0 || position >= shape[axis])
      return std::nullopt;
    element = element * shape[axis] + position;
  }
  return element;
}

std::optional<Value> readBox(const RefArray &base, const Box &box,
                             const std::optional<Scalar> &outside) {
  bool isInside = box.isInside(base.shape);
  if (!isInside && !outside)
    return std::nullopt;
  RefArray result = reference::zeroArray(base.elem, box.shape());
  std::vector<int64_t> dense = reference::denseStrides(base.shape), strides;
  int64_t offset = 0;
  for (size_t axis = 0; axis < box.offsets.size(); ++axis) {
    offset += box.offsets[axis] * dense[axis];
    if (!isDropped(box, axis))
      strides.push_back(dense[axis] * box.steps[axis]);
  }
  if (isInside && result.count() > 0)
    reference::copyStrided(result, 0, reference::denseStrides(result.shape), base, offset, strides,
                           result.shape);
  if (!isInside)
    forEach(box, [&](std::span<const int64_t> at, int64_t number) {
      std::optional<int64_t> element = elementAt(box, at, base.shape);
      result.set(number, element ? base.at(*element) : *outside);
      return true;
    });
  if (result.shape.empty())
    return Value::scalar(base.elem, result.at(0));
  return Value::array(std::move(result));
}

static Scalar meet(Meeting meeting, ElemKind elem, Scalar there, Scalar next) {
  static constexpr OpId ops[] = {OpId::Add, OpId::Add, OpId::Max, OpId::Min};
  Scalar operands[] = {there, next}, result = next;
  if (meeting != Meeting::Replace)
    (void)reference::evalScalar(ops[static_cast<size_t>(meeting)], elem, operands, result);
  return roundScalar(result, elem);
}

bool writeBox(RefArray &base, const BoxWrite &write) {
  const Box &box = write.box;
  std::vector<int64_t> kept = box.shape(), strides;
  RefArray storage;
  const RefArray &value = reference::asArray(write.value, storage);
  strides = reference::broadcastStrides(value.shape, kept);
  return forEach(box, [&](std::span<const int64_t> at, int64_t) {
    int64_t from = 0;
    size_t next = 0;
    for (size_t axis = 0; axis < at.size(); ++axis)
      if (!isDropped(box, axis))
        from += at[axis] * strides[next++];
    std::vector<int64_t> position(at.begin(), at.end());
    if (write.index)
      position[write.indexAxis] = write.index->at(at[write.indexAxis]).i;
    std::optional<int64_t> element = elementAt(box, position, base.shape);
    if (!element)
      return false;
    base.set(*element, meet(write.meeting, base.elem, base.at(*element), value.at(from)));
    return true;
  });
}

} // namespace ptl::execute
