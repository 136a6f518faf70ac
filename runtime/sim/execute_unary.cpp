// Elementwise with one operand, conversions, comparisons into packed masks and selections by them.
#include "frontend/base/elem_convert.h"
#include "ir/ops/conversion_facts.h"
#include "runtime/sim/arithmetic.h"
#include "runtime/sim/execution.h"

#include <algorithm>
#include <cmath>

namespace ptl::rt::sim {
namespace {

bool covers(Execution &x, const Plane &in, int64_t rows, int64_t cols) {
  if (in.rows >= rows && in.cols >= cols)
    return true;
  return x.fail("reads " + std::to_string(rows) + "x" + std::to_string(cols) +
                " elements of a tile with a valid part of " + std::to_string(in.rows) + "x" +
                std::to_string(in.cols));
}

/// Calls `f(row, col, n)` for pieces of the rows of a tile.
template <typename F> void forChunks(const Plane &plane, F f) {
  for (int64_t row = 0; row < plane.rows; ++row)
    for (int64_t col = 0; col < plane.cols; col += kChunk)
      f(row, col, std::min(kChunk, plane.cols - col));
}

template <typename C, typename F> void mapTile(const Plane &out, const Plane &in, F f) {
  C a[kChunk];
  forChunks(out, [&](int64_t row, int64_t col, int64_t n) {
    loadRow(in, row, col, n, a);
    for (int64_t i = 0; i < n; ++i)
      a[i] = f(a[i]);
    storeRow(out, row, col, n, a);
  });
}

bool runFloat(InstructionId id, const Plane &out, const Plane &in) {
  switch (id) {
  case InstructionId::TExp:
    mapTile<float>(out, in, [](float a) { return std::exp(a); });
    return true;
  case InstructionId::TLog:
    mapTile<float>(out, in, [](float a) { return std::log(a); });
    return true;
  case InstructionId::TSqrt:
    mapTile<float>(out, in, [](float a) { return std::sqrt(a); });
    return true;
  case InstructionId::TRsqrt:
    mapTile<float>(out, in, [](float a) { return 1 / std::sqrt(a); });
    return true;
  default:
    return false;
  }
}

template <typename C> bool runAny(InstructionId id, const Plane &out, const Plane &in) {
  switch (id) {
  case InstructionId::TAbs:
    if constexpr (std::is_floating_point_v<C>)
      mapTile<C>(out, in, [](C a) { return std::fabs(a); });
    else if constexpr (std::is_signed_v<C>)
      // The smallest integer has no positive counterpart and wraps.
      mapTile<C>(out, in, [](C a) { return a < 0 ? applyInteger(Binary::Sub, C(0), a) : a; });
    else
      mapTile<C>(out, in, [](C a) { return a; });
    return true;
  case InstructionId::TNeg:
    if constexpr (std::is_floating_point_v<C>)
      mapTile<C>(out, in, [](C a) { return -a; });
    else
      mapTile<C>(out, in, [](C a) { return applyInteger(Binary::Sub, C(0), a); });
    return true;
  case InstructionId::TRelu:
    // NaN is not below 0, so it stays.
    mapTile<C>(out, in, [](C a) { return a < 0 ? C(0) : a; });
    return true;
  case InstructionId::TRecip:
    mapTile<C>(out, in, [](C a) {
      if constexpr (std::is_floating_point_v<C>)
        return C(1) / a;
      else
        return applyInteger(Binary::Div, C(1), a);
    });
    return true;
  case InstructionId::TNot:
    if constexpr (std::is_integral_v<C>) {
      mapTile<C>(out, in, [](C a) { return static_cast<C>(~a); });
      return true;
    }
    return false;
  default:
    return false;
  }
}

RoundMode roundModeOf(Rounding rounding) {
  switch (rounding) {
  case Rounding::Round:
    return RoundMode::Away;
  case Rounding::Floor:
    return RoundMode::Down;
  case Rounding::Ceil:
    return RoundMode::Up;
  case Rounding::Trunc:
  // Rounding to odd begins with a cut, and sets the last bit afterwards.
  case Rounding::Odd:
    return RoundMode::Zero;
  default:
    return RoundMode::Even;
  }
}

/// To odd: cut off, and the last bit set if that lost something.
ptl::Scalar roundedToOdd(double value, ElemKind to) {
  uint64_t bits = encodeFloat(value, to, RoundMode::Zero);
  // NaN stays as it is.
  if (decodeFloat(bits, to) != value && value == value)
    bits |= 1;
  return ptl::Scalar::real(decodeFloat(bits, to));
}

class Converter {
public:
  Converter(const Modifiers &modifiers, ElemKind from, ElemKind to)
      : modifiers_(modifiers), mode_(roundModeOf(modifiers.rounding)), from_(from), to_(to) {}

  /// Whether loading and storing in `float` gives the same.
  bool isPlain() const {
    // Integers of 16 bits and less are exact in `float`.
    bool exact = isFloat(from_) || elemBits(from_) <= 16;
    return isFloat(to_) && from_ != to_ && mode_ == RoundMode::Even && exact && elemBits(to_) > 8;
  }
  ptl::Scalar operator()(ptl::Scalar value) const {
    // A conversion to the same float type is the instruction's way to round to whole numbers.
    if (from_ == to_ && isFloat(from_))
      return wholeNumber(value);
    if (modifiers_.rounding == Rounding::Odd && isFloat(from_) && isFloat(to_))
      return roundedToOdd(value.f, to_);
    bool saturates = modifiers_.saturate.value_or(saturatesUntold(from_, to_));
    // A wrapping conversion takes the low bits of the whole number.
    if (isFloat(from_) && !isFloat(to_) && !saturates && elemBits(to_) < 32) {
      ptl::Scalar whole = convertScalar(value, from_, ElemKind::I64, mode_);
      return convertScalar(whole, ElemKind::I64, to_);
    }
    return convertScalar(value, from_, to_, mode_, saturates);
  }

private:
  /// A conversion within a float type rounds to whole numbers.
  ptl::Scalar wholeNumber(ptl::Scalar value) const {
    if (modifiers_.rounding == Rounding::None)
      return value;
    RoundMode mode = modifiers_.rounding == Rounding::Odd ? RoundMode::Even : mode_;
    return ptl::Scalar::real(roundedToWhole(value.f, mode));
  }

  const Modifiers &modifiers_;
  RoundMode mode_;
  ElemKind from_, to_;
};

void convertPlain(const Plane &out, const Plane &in) {
  visitCompute(in.elem, [&](auto zero) {
    using C = decltype(zero);
    C a[kChunk];
    float b[kChunk];
    forChunks(out, [&](int64_t row, int64_t col, int64_t n) {
      loadRow(in, row, col, n, a);
      std::copy(a, a + n, b);
      storeRow(out, row, col, n, b);
    });
  });
}

template <typename C> bool compare(Compare how, C a, C b) {
  switch (how) {
  case Compare::Eq:
    return a == b;
  case Compare::Ne:
    return a != b;
  case Compare::Lt:
    return a < b;
  case Compare::Le:
    return a <= b;
  case Compare::Gt:
    return a > b;
  case Compare::Ge:
    return a >= b;
  }
  return false;
}

/// A mask has one bit per element, from the lowest bit of the first byte of its row.
bool maskCovers(Execution &x, const Plane &mask, const Plane &data) {
  if (elemBytes(mask.elem) == 1 && mask.tile->rows >= data.rows &&
      mask.tile->cols * int64_t(8) >= data.cols)
    return true;
  return x.fail("has a mask of " + std::to_string(mask.tile->rows) + "x" +
                std::to_string(mask.tile->cols) + " " + std::string(elemName(mask.elem)) + " for " +
                std::to_string(data.rows) + "x" + std::to_string(data.cols) +
                " elements, a bit for each");
}

void storeMask(const Plane &mask, int64_t row, int64_t col, int64_t n, const bool *bits) {
  for (int64_t i = 0; i < n; i += 8) {
    uint8_t *byte = mask.at(row, (col + i) / 8);
    for (int64_t k = 0; k < 8 && i + k < n; ++k)
      // Bits of other elements in the byte stay.
      *byte = static_cast<uint8_t>((*byte & ~(1 << k)) | bits[i + k] << k);
  }
}

bool maskBit(const Plane &mask, int64_t row, int64_t col) {
  return *mask.at(row, col / 8) >> (col % 8) & 1;
}

} // namespace

bool executeUnary(Execution &x) {
  const Plane &out = x.out(), &in = x.in(0);
  if (in.elem != out.elem)
    return x.fail("has operands of different element types");
  if (!covers(x, in, out.rows, out.cols))
    return false;
  // Functions that only exist for floats come first.
  if (isFloat(in.elem) && runFloat(x.id(), out, in))
    return true;
  bool known = false;
  visitCompute(in.elem, [&](auto zero) { known = runAny<decltype(zero)>(x.id(), out, in); });
  return known || x.fail("does not take " + std::string(elemName(in.elem)));
}

bool executeConvert(Execution &x) {
  const Plane &out = x.out(), &in = x.in(0);
  if (!covers(x, in, out.rows, out.cols))
    return false;
  Converter converter(x.modifiers(), in.elem, out.elem);
  // Most conversions are between floats, and going by `float` a row at a time is much faster than
  // one number after the other.
  if (converter.isPlain()) {
    convertPlain(out, in);
    return true;
  }
  forChunks(out, [&](int64_t row, int64_t col, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      storeElem(out.at(row, col + i), out.elem, converter(loadElem(in.at(row, col + i), in.elem)));
  });
  return true;
}

/// An operand that is a tile or, where that is null, one number for all elements.
struct TileOrScalar {
  const Plane *tile;
  const Scalar *scalar;
};

/// Whether what is compared, or chosen between, has the element type of `wanted`. The rows are loaded
/// as elements of one type, so another one would be taken for its bits.
static bool hasElementsOf(Execution &x, const Plane &wanted, const Plane &first,
                          TileOrScalar second, bool scalarIsFloat) {
  bool isSame = first.elem == wanted.elem && (second.tile ? second.tile->elem == wanted.elem
                                                          : scalarIsFloat == isFloat(wanted.elem));
  return isSame || x.fail("has operands of different element types");
}

/// Calls `compute(a, b, row, col, n)` with the elements of both operands for pieces of the rows of `over`, whose element type they have.
template <typename Compute>
static bool forPairs(const Plane &over, const Plane &first, TileOrScalar second, Compute compute) {
  return visitCompute(over.elem, [&](auto zero) {
    using C = decltype(zero);
    C a[kChunk], b[kChunk];
    if (!second.tile)
      std::fill(b, b + kChunk, scalarAs<C>(*second.scalar));
    forChunks(over, [&](int64_t row, int64_t col, int64_t n) {
      loadRow(first, row, col, n, a);
      if (second.tile)
        loadRow(*second.tile, row, col, n, b);
      compute(a, b, row, col, n);
    });
  });
}

bool executeCompare(Execution &x) {
  const Plane &mask = x.out(), &first = x.in(0);
  TileOrScalar second{};
  if (x.isScalar(1))
    second.scalar = &x.scalar(1);
  else
    // Both forms have one loop, which differs in where the second operand comes from.
    second.tile = &x.in(1);
  if (!hasElementsOf(x, first, first, second, second.scalar && x.scalarIsFloat(1)) ||
      !maskCovers(x, mask, first) ||
      (second.tile && !covers(x, *second.tile, first.rows, first.cols)))
    return false;
  return forPairs(first, first, second,
                  [&](const auto *a, const auto *b, int64_t row, int64_t col, int64_t n) {
                    bool bits[kChunk];
                    for (int64_t i = 0; i < n; ++i)
                      bits[i] = compare(x.modifiers().compare, a[i], b[i]);
                    storeMask(mask, row, col, n, bits);
                  });
}

bool executeSelect(Execution &x) {
  const Plane &mask = x.in(0), &first = x.in(1), &out = x.out();
  TileOrScalar second{};
  if (x.id() == InstructionId::TSels)
    second.scalar = &x.scalar(3);
  else
    second.tile = &x.in(2);
  if (!hasElementsOf(x, out, first, second, second.scalar && x.scalarIsFloat(3)) ||
      !maskCovers(x, mask, out) || !covers(x, first, out.rows, out.cols) ||
      (second.tile && !covers(x, *second.tile, out.rows, out.cols)))
    return false;
  return forPairs(out, first, second,
                  [&](auto *a, const auto *b, int64_t row, int64_t col, int64_t n) {
                    for (int64_t i = 0; i < n; ++i)
                      a[i] = maskBit(mask, row, col + i) ? a[i] : b[i];
                    storeRow(out, row, col, n, a);
                  });
}

} // namespace ptl::rt::sim
