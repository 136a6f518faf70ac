// Iteration over strided arrays.
#include "codegen/reference/array_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ptl::reference {

View viewOf(const Value &value) {
  if (value.isScalar()) {
    const auto &scalar = value.asScalar();
    View view{scalar.elem, {}, nullptr, nullptr};
    if (isFloat(scalar.elem))
      view.floats = &scalar.scalar.f;
    else
      view.ints = &scalar.scalar.i;
    return view;
  }
  if (!value.isArray())
    stop(RunStatus::Fault, "an operand is neither scalar nor array");
  const RefArray &array = value.asArray();
  View view{array.elem, array.shape, nullptr, nullptr};
  // An empty array has no storage; which pointer is set still says what it holds.
  static const double noFloat = 0;
  static const int64_t noInt = 0;
  if (array.isReal())
    view.floats = array.floats.empty() ? &noFloat : array.floats.data();
  else
    view.ints = array.ints.empty() ? &noInt : array.ints.data();
  return view;
}

std::vector<int64_t> denseStrides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::vector<int64_t> broadcastShapes(std::span<const View> views) {
  std::vector<int64_t> shape;
  for (const View &view : views) {
    if (view.shape.size() > shape.size())
      shape.insert(shape.begin(), view.shape.size() - shape.size(), 1);
    size_t lead = shape.size() - view.shape.size();
    for (size_t i = 0; i < view.shape.size(); ++i) {
      int64_t &extent = shape[lead + i];
      if (extent == 1)
        extent = view.shape[i];
      else if (view.shape[i] != 1 && view.shape[i] != extent)
        stop(RunStatus::Fault,
             "the shapes " + shapeText(shape) + " and " + shapeText(view.shape) + " do not match");
    }
  }
  return shape;
}

std::vector<int64_t> broadcastStrides(std::span<const int64_t> from,
                                      std::span<const int64_t> shape) {
  if (from.size() > shape.size())
    stop(RunStatus::Fault, shapeText(from) + " has more axes than " + shapeText(shape));
  std::vector<int64_t> dense = denseStrides(from), strides(shape.size(), 0);
  size_t lead = shape.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != shape[lead + i])
      stop(RunStatus::Fault, shapeText(from) + " does not repeat to " + shapeText(shape));
    strides[lead + i] = from[i] == 1 ? 0 : dense[i];
  }
  return strides;
}

void mergeAxes(Walk &walk, size_t operands) {
  size_t kept = 0;
  for (size_t i = 0; i < walk.shape.size(); ++i) {
    bool merges = kept > 0;
    for (size_t k = 0; k < operands && merges; ++k)
      merges = walk.strides[k][kept - 1] == walk.strides[k][i] * walk.shape[i];
    if (merges) {
      walk.shape[kept - 1] *= walk.shape[i];
    } else {
      walk.shape[kept++] = walk.shape[i];
    }
    for (size_t k = 0; k < operands; ++k)
      walk.strides[k][kept - 1] = walk.strides[k][i];
  }
  walk.shape.resize(kept);
  for (size_t k = 0; k < operands; ++k)
    walk.strides[k].resize(kept);
}

template <typename T>
static void copyRow(T *to, int64_t toStep, const T *from, int64_t fromStep, int64_t length) {
  if (toStep == 1 && fromStep == 1) {
    std::copy_n(from, length, to);
    return;
  }
  for (int64_t i = 0; i < length; ++i)
    to[i * toStep] = from[i * fromStep];
}

void copyStrided(RefArray &to, int64_t toOffset, std::span<const int64_t> toStrides,
                 const RefArray &from, int64_t fromOffset, std::span<const int64_t> fromStrides,
                 std::span<const int64_t> shape) {
  Walk walk;
  walk.shape.assign(shape.begin(), shape.end());
  walk.strides[0].assign(toStrides.begin(), toStrides.end());
  walk.strides[1].assign(fromStrides.begin(), fromStrides.end());
  bool isReal = to.isReal();
  if (to.defined.empty() && !from.defined.empty())
    to.defined.assign(static_cast<size_t>(to.count()), 1);
  forRows(std::move(walk), 2, [&](const Offsets &at, const Offsets &step, int64_t length, int64_t) {
    int64_t t = toOffset + at[0], f = fromOffset + at[1];
    if (isReal)
      copyRow(to.floats.data() + t, step[0], from.floats.data() + f, step[1], length);
    else
      copyRow(to.ints.data() + t, step[0], from.ints.data() + f, step[1], length);
    if (to.defined.empty())
      return;
    if (from.defined.empty())
      for (int64_t i = 0; i < length; ++i)
        to.defined[static_cast<size_t>(t + i * step[0])] = 1;
    else
      copyRow(to.defined.data() + t, step[0], from.defined.data() + f, step[1], length);
  });
}

const RefArray &asArray(const Value &value, RefArray &storage) {
  if (value.isArray())
    return value.asArray();
  View view = viewOf(value);
  storage = zeroArray(view.elem, {});
  storage.set(0, view.at(0));
  return storage;
}

/// Nearest even within the normal range of a float type by arithmetic on the bits; nothing outside
/// of it.
static bool roundBits(double &value, unsigned mantissaBits, int lowest, int highest) {
  auto bits = std::bit_cast<uint64_t>(value);
  int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
  if (exponent < lowest || exponent >= highest)
    return value == 0;
  unsigned shift = 52 - mantissaBits;
  bits += (uint64_t(1) << (shift - 1)) - 1 + ((bits >> shift) & 1);
  bits &= ~((uint64_t(1) << shift) - 1);
  value = std::bit_cast<double>(bits);
  return true;
}

void roundAll(double *values, int64_t count, ElemKind elem) {
  if (elem == ElemKind::F64)
    return;
  if (elem == ElemKind::F32) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<double>(static_cast<float>(values[i]));
    return;
  }
  const ElemInfo &info = elemInfo(elem);
  int bias = (1 << (info.exponentBits - 1)) - 1;
  for (int64_t i = 0; i < count; ++i)
    if (isHeldOnly(elem) || !roundBits(values[i], info.mantissaBits, 1 - bias, bias))
      values[i] = roundFloat(values[i], elem);
}

} // namespace ptl::reference
