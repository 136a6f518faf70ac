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

// ---- Groups ------------------------------------------------------------------------------------

/// Elementwise, comparison and select records.
Value elementwise(OpId op, std::span<const Value> args);
Value convertValue(const Value &value, ElemKind to, RoundMode mode, bool saturate);
Value bitcastValue(const Value &value, ElemKind to);
/// `zero` may be absent.
Value quantizeValue(const Value &x, const Value &scale, const Value &zero, ElemKind to);
Value dequantizeValue(const Value &q, const Value &scale, const Value &zero);

/// With `all`, reduces over every axis, to a scalar.
Value reduceValue(OpId op, const Value &x, std::span<const int64_t> axes, bool all);
Value argReduce(OpId op, const Value &x, std::optional<int64_t> axis);
Value scanValue(OpId op, const Value &x, int64_t axis);
Value isUnique(const Value &x);
Value isSorted(const Value &x);

Value matmulValue(const Value &a, const Value &b);
/// The product of `a` with the transpose of `b`, where each block of the factors' rows has a scale.
Value scaledDotValue(const Value &a, const Value &aScale, const Value &b, const Value &bScale);
/// `equation` is like `"md,nd->mn"`, without spaces.
Value einsumValue(const std::string &equation, std::span<const Value> operands);

Value reshapeValue(const Value &x, std::vector<int64_t> shape);
Value transposeValue(const Value &x, std::span<const int64_t> axes);
Value concatValues(std::span<const Value> values, int64_t axis);
Value padValue(const Value &x, Scalar fill, std::span<const int64_t> before,
               std::span<const int64_t> after);
Value broadcastValue(const Value &x, std::vector<int64_t> shape);
Value interleaveValues(const Value &a, const Value &b);
/// A tuple of the elements at even and at odd positions.
Value deinterleaveValue(const Value &x);
/// `lower` selects `tril`, otherwise `triu`.
Value triangleValue(const Value &x, int64_t diagonal, bool lower);

Value gatherValue(const Value &x, const Value &idx, int64_t axis);
Value scatterValue(const Value &x, const Value &idx, const Value &v, int64_t axis,
                   std::string_view combine);
Value sortValue(const Value &x, int64_t axis, bool descending, bool positions);
/// A tuple of values and positions.
Value topkValue(const Value &x, int64_t k);

Value fullValue(ElemKind elem, std::vector<int64_t> shape, Scalar value);
Value indexValue(const RangeValue &range);
Value oneHotValue(const Value &ids, int64_t extent, ElemKind elem);
Value philoxValue(const Value &counter, int64_t seed);
Value randomValue(ElemKind elem, std::vector<int64_t> shape, int64_t seed, Scalar low, Scalar high);

} // namespace ptl::reference
