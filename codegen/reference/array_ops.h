// Built-ins on whole values. Shapes have been checked statically; errors that depend on values
// (positions, division) throw `Stop` without a source location. Axes are numbered from the front.
#pragma once

#include "codegen/reference/scalar_ops.h"
#include "codegen/reference/status.h"
#include "codegen/reference/value.h"

#include <array>

namespace ptl::reference {

/// A scalar or an array, accessed as elements.
struct View {
  ElemKind elem = ElemKind::F32;
  std::span<const int64_t> shape;
  const double *floats = nullptr;
  const int64_t *ints = nullptr;

  Scalar at(int64_t position) const {
    return floats ? Scalar::real(floats[position]) : Scalar::integer(ints[position]);
  }
  int64_t count() const { return elementCount(shape); }
};
View viewOf(const Value &value);

// ---- Walking (walk.cpp) ------------------------------------------------------------------------

inline constexpr size_t kMaxOperands = 3;
/// An iteration space with a stride per operand and axis. It is empty if an extent is 0.
struct Walk {
  std::vector<int64_t> shape;
  std::array<std::vector<int64_t>, kMaxOperands> strides;
};
std::vector<int64_t> denseStrides(std::span<const int64_t> shape);
/// The shape after broadcasting: extents of 1 and missing leading axes are repeated.
std::vector<int64_t> broadcastShapes(std::span<const View> views);
/// The strides of an operand that is broadcast to `shape`.
std::vector<int64_t> broadcastStrides(std::span<const int64_t> from,
                                      std::span<const int64_t> shape);
/// Merges neighbouring axes that are contiguous in all operands.
void mergeAxes(Walk &walk, size_t operands);

using Offsets = std::array<int64_t, kMaxOperands>;
/// Calls `row(offsets, steps, length, position)` for every run along the last axis, in order.
template <typename Row> void forRows(Walk walk, size_t operands, Row row) {
  if (elementCount(walk.shape) == 0)
    return;
  mergeAxes(walk, operands);
  size_t rank = walk.shape.size();
  int64_t length = rank ? walk.shape[rank - 1] : 1;
  Offsets offsets{}, steps{};
  for (size_t k = 0; k < operands; ++k)
    steps[k] = rank ? walk.strides[k][rank - 1] : 0;
  std::vector<int64_t> at(rank, 0);
  for (int64_t position = 0;; position += length) {
    row(offsets, steps, length, position);
    size_t axis = rank ? rank - 1 : 0;
    while (axis-- > 0) {
      for (size_t k = 0; k < operands; ++k)
        offsets[k] += walk.strides[k][axis];
      if (++at[axis] < walk.shape[axis])
        break;
      for (size_t k = 0; k < operands; ++k)
        offsets[k] -= walk.strides[k][axis] * walk.shape[axis];
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1))
      return;
  }
}

/// Copies elements, with their marks of being initialised, between strided places of two arrays.
void copyStrided(RefArray &to, int64_t toOffset, std::span<const int64_t> toStrides,
                 const RefArray &from, int64_t fromOffset, std::span<const int64_t> fromStrides,
                 std::span<const int64_t> shape);
/// A scalar as an array without axes; an array is returned as it is.
const RefArray &asArray(const Value &value, RefArray &storage);

/// Rounds each element to a value of `elem`.
void roundAll(double *values, int64_t count, ElemKind elem);

} // namespace ptl::reference
