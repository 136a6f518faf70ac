#include "runtime/data_facts.h"

#include "runtime/array_walk.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>

namespace ptl::rt {
namespace {

using Op = Expr::Op;

/// Calls `visit(T())` for element types whose values in memory are those of the C++ type `T`; false,
/// without a call, for all others.
template <typename Visit> bool withType(int32_t elem, Visit visit) {
  switch (elem) {
  case PTL_I8:
    return visit(int8_t()), true;
  case PTL_I16:
    return visit(int16_t()), true;
  case PTL_I32:
    return visit(int32_t()), true;
  case PTL_I64:
  case PTL_INT:
    return visit(int64_t()), true;
  case PTL_U8:
    return visit(uint8_t()), true;
  case PTL_U16:
    return visit(uint16_t()), true;
  case PTL_U32:
    return visit(uint32_t()), true;
  case PTL_F32:
    return visit(float()), true;
  case PTL_F64:
    return visit(double()), true;
  default:
    return false;
  }
}

/// Calls `run(first, count)` for rows of elements that follow each other in memory, in row-major
/// order, until it returns false. A dense array is one row; an empty one has none.
template <typename T, typename Run> void forEachRun(const PtlArray &array, Run run) {
  int64_t count = elementCount(array.rank, array.extents), length = 1;
  if (count == 0)
    return;
  int32_t outer = array.rank;
  // Inner axes whose strides are those of a dense array are one run of elements; an axis of extent
  // 1 may have any stride.
  while (outer > 0 && (array.extents[outer - 1] == 1 || array.strides[outer - 1] == length))
    length *= array.extents[--outer];
  if (outer == 0) {
    run(static_cast<const T *>(array.data), count);
    return;
  }
  PtlArray rows{array.data, outer, array.extents, array.strides, array.elem};
  forEachElement(
      rows, [&](const void *cell, int64_t) { return run(static_cast<const T *>(cell), length); });
}

/// The least and the largest number so far, and whether all were numbers.
template <typename T> struct Extremes {
  T least, most;
  bool ordered = true;
};

/// Looks at a run of elements by vectors, which no compiler makes by itself where the elements are floats: their order of
/// comparisons matters to it, and not here.
template <typename T>
[[gnu::always_inline]] inline void lookAt(const T *first, int64_t count, Extremes<T> &found) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  using Vector [[gnu::vector_size(64)]] = T;
  auto take = [&](T least, T most) {
    found.least = least < found.least ? least : found.least;
    found.most = most > found.most ? most : found.most;
  };
  int64_t i = 0;
  if (count >= kLanes) {
    Vector low = found.least - Vector{}, high = found.most - Vector{};
    auto unordered = low != low;
    for (; i + kLanes <= count; i += kLanes) {
      Vector value;
      std::memcpy(&value, first + i, sizeof value);
      low = value < low ? value : low;
      high = value > high ? value : high;
      // A NaN, which no other comparison finds, differs from itself.
      if constexpr (std::floating_point<T>)
        unordered |= value != value;
    }
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      take(low[lane], high[lane]);
      found.ordered &= unordered[lane] == 0;
    }
  }
  for (; i < count; ++i) {
    take(first[i], first[i]);
    found.ordered &= first[i] == first[i]; // NOLINT(misc-redundant-expression)
  }
}

#if defined(__x86_64__)
template <typename T>
[[gnu::target("avx2")]] void lookByVectors(const T *first, int64_t count, Extremes<T> &found) {
  lookAt(first, count, found);
}
template <typename T>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]] void
lookByLongVectors(const T *first, int64_t count, Extremes<T> &found) {
  lookAt(first, count, found);
}
#endif

/// The library is compiled for every processor of its kind, whose vectors are short or cannot compare all elements.
template <typename T> void look(const T *first, int64_t count, Extremes<T> &found) {
#if defined(__x86_64__)
  static const bool isLong = __builtin_cpu_supports("avx512bw") &&
                             __builtin_cpu_supports("avx512dq") &&
                             __builtin_cpu_supports("avx512vl");
  static const bool isMiddling = __builtin_cpu_supports("avx2");
  if (isLong)
    return lookByLongVectors(first, count, found);
  if (isMiddling)
    return lookByVectors(first, count, found);
#endif
  lookAt(first, count, found);
}

template <typename T> Number numberOf(T value) {
  if constexpr (std::floating_point<T>)
    return Number::floating(value);
  else
    return Number::integer(static_cast<int64_t>(value));
}

bool isNan(const Number &x) { return x.isFloat && std::isnan(x.f); }

using Bounds = std::optional<ElementBounds>;

/// Those that `op` has, if its value rises or falls with each operand alone: the least and the
/// largest of its values at the ends.
Bounds atEnds(Op op, const ElementBounds &a, const ElementBounds &b) {
  Bounds result;
  for (const Number &x : {a.least, a.most})
    for (const Number &y : {b.least, b.most}) {
      std::optional<Number> value = combine(op, x, y);
      if (!value || isNan(*value))
        return std::nullopt;
      if (!result)
        result = {*value, *value};
      result->least = *combine(Op::Min, result->least, *value);
      result->most = *combine(Op::Max, result->most, *value);
    }
  return result;
}

bool holds(Op op, const Number &a, const Number &b) { return combine(op, a, b)->i != 0; }

ElementBounds truths(bool always, bool sometimes) {
  return {Number::integer(always), Number::integer(sometimes)};
}

ElementBounds compared(Op op, const ElementBounds &a, const ElementBounds &b) {
  switch (op) {
  case Op::Lt:
  case Op::Le:
    return truths(holds(op, a.most, b.least), holds(op, a.least, b.most));
  case Op::Gt:
  case Op::Ge:
    return truths(holds(op, a.least, b.most), holds(op, a.most, b.least));
  default: {
    // Ranges that do not overlap are never equal. They are always equal only if both are the same
    // single number.
    bool apart = holds(Op::Lt, a.most, b.least) || holds(Op::Lt, b.most, a.least);
    bool one = holds(Op::Eq, a.least, a.most) && holds(Op::Eq, b.least, b.most) && !apart;
    return op == Op::Eq ? truths(one, !apart) : truths(apart, !one);
  }
  }
}

/// Quotients and remainders of integers by one positive number.
Bounds divided(Op op, const ElementBounds &a, const ElementBounds &b) {
  if (a.least.isFloat || b.least.isFloat || b.least.i <= 0 || b.least.i != b.most.i)
    return std::nullopt;
  if (op != Op::Mod && op != Op::Rem)
    return atEnds(op, a, b);
  if (a.least.i >= 0 && a.most.i < b.least.i)
    return a;
  // The remainder of a truncating division has the sign of the dividend.
  bool negative = op == Op::Rem && a.least.i < 0;
  return ElementBounds{Number::integer(negative ? 1 - b.least.i : 0),
                       Number::integer(b.least.i - 1)};
}

class Intervals {
public:
  Intervals(int index, const ElementBounds &element, const ExprValues &values)
      : index_(index), element_(element), values_(values) {}

  Bounds of(const Expr &expr) const {
    switch (expr.op) {
    case Op::Elem:
      return expr.index == index_ ? Bounds(element_) : std::nullopt;
    case Op::Const:
    case Op::Float:
    case Op::Dim:
    case Op::Scalar: {
      std::optional<Number> value = evaluate(expr, values_);
      // NaN is in no range, so nothing can be concluded from bounds of it.
      return value && !isNan(*value) ? Bounds({*value, *value}) : std::nullopt;
    }
    case Op::Neg: {
      Bounds x = of(expr.args[0]);
      return x ? atEnds(Op::Sub, {Number{}, Number{}}, *x) : std::nullopt;
    }
    case Op::Not: {
      Bounds x = of(expr.args[0]);
      return x ? Bounds(compared(Op::Eq, *x, {Number{}, Number{}})) : std::nullopt;
    }
    case Op::All:
    case Op::Unique:
    case Op::Sorted:
      return std::nullopt;
    default:
      return fold(expr);
    }
  }

private:
  Bounds fold(const Expr &expr) const {
    Bounds result = of(expr.args[0]);
    for (size_t i = 1; result && i < expr.args.size(); ++i) {
      Bounds operand = of(expr.args[i]);
      result = operand ? combined(expr.op, *result, *operand) : std::nullopt;
    }
    return result;
  }

  static Bounds combined(Op op, const ElementBounds &a, const ElementBounds &b) {
    switch (op) {
    case Op::And:
      return truths(isTrue(a.least) && isTrue(b.least), isTrue(a.most) && isTrue(b.most));
    case Op::Or:
      return truths(isTrue(a.least) || isTrue(b.least), isTrue(a.most) || isTrue(b.most));
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
      return atEnds(op, a, b);
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
      return compared(op, a, b);
    default:
      return divided(op, a, b);
    }
  }

  int index_;
  const ElementBounds &element_;
  const ExprValues &values_;
};

} // namespace

Bounds boundsOf(const PtlArray &array) {
  Bounds bounds;
  if (elementCount(array.rank, array.extents) == 0)
    return bounds;
  withType(array.elem, [&]<typename T>(T) {
    Extremes<T> found{};
    std::memcpy(&found.least, array.data, sizeof(T));
    found.most = found.least;
    forEachRun<T>(array, [&](const T *first, int64_t count) {
      look(first, count, found);
      return found.ordered;
    });
    if (found.ordered)
      bounds = {numberOf(found.least), numberOf(found.most)};
  });
  return bounds;
}

const Bounds &DataBounds::of(int index, const PtlArray &array) {
  known_.resize(std::max(known_.size(), static_cast<size_t>(index) + 1));
  Known &known = known_[static_cast<size_t>(index)];
  if (!known.looked)
    known = {true, boundsOf(array)};
  return known.bounds;
}

bool followsFromBounds(const Expr &fact, int index, const ExprValues &values) {
  const PtlArray &array = *values.arrays[index];
  Bounds element = values.bounds ? values.bounds->of(index, array) : boundsOf(array);
  if (!element)
    return false;
  Bounds truth = Intervals(index, *element, values).of(fact);
  return truth && isTrue(truth->least);
}

bool isSurelySorted(const PtlArray &array) {
  bool sorted = false;
  withType(array.elem, [&]<typename T>(T) {
    const T *before = nullptr;
    sorted = true;
    forEachRun<T>(array, [&](const T *first, int64_t count) {
      // The end of a run is compared with the beginning of the next one. Comparisons with NaN are
      // false, so that an array with NaN is never reported as sorted.
      bool rises = !before || *before <= *first;
      for (int64_t i = 1; i < count; ++i)
        rises &= first[i - 1] <= first[i];
      before = first + count - 1;
      return sorted = rises;
    });
  });
  return sorted;
}

bool isSurelyUnique(const PtlArray &array, const Bounds &bounds) {
  // A bit takes less time than its share of a sort does, so ranges may have holes.
  constexpr uint64_t bitsPerElement = 64;
  auto count = static_cast<uint64_t>(elementCount(array.rank, array.extents));
  if (!bounds || bounds->least.isFloat)
    return false;
  auto span = static_cast<uint64_t>(bounds->most.i) - static_cast<uint64_t>(bounds->least.i);
  if (span / bitsPerElement >= count)
    return false;
  bool unique = false;
  withType(array.elem, [&]<typename T>(T) {
    std::vector<uint64_t> seen(span / 64 + 1);
    unique = true;
    forEachRun<T>(array, [&](const T *first, int64_t length) {
      for (int64_t i = 0; i < length && unique; ++i) {
        auto place = static_cast<uint64_t>(first[i]) - static_cast<uint64_t>(bounds->least.i);
        uint64_t bit = uint64_t(1) << place % 64;
        unique = !(seen[place / 64] & bit);
        seen[place / 64] |= bit;
      }
      return unique;
    });
  });
  return unique;
}

} // namespace ptl::rt
