// Elements in memory and the types in which they are computed: floats in `float`, integers in their
// own type, with wrapping.
#pragma once

#include "runtime/sim/tile.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

namespace ptl::rt::sim {

inline float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400)
    // The mantissa moves from 10 bits to 23, and the exponent's bias from 15 to 127: 112 << 23 is added.
    return std::bit_cast<float>(sign | (magnitude << 13) + 0x38000000);
  float value = static_cast<float>(magnitude) * 0x1p-24f;
  return sign ? -value : value;
}

/// Rounds to nearest, ties to even.
inline uint16_t floatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000,
           magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x47800000) // 65536 and more, infinity, NaN
    return static_cast<uint16_t>(sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00));
  if (magnitude < 0x38800000) { // below the normal numbers: an addition rounds at the right place
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  // Just under half of the last place that stays is added, and 1 more if that is odd, so that ties go to even. A carry into the exponent is
  // right as it is.
  uint32_t odd = magnitude >> 13 & 1;
  return static_cast<uint16_t>(sign | (magnitude - 0x38000000 + 0xfff + odd) >> 13);
}

inline float bfloatToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// Rounds to nearest, ties to even.
inline uint16_t floatToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// 8-bit floats, converted by the exact routines of elem_convert.h.
float smallToFloat(uint8_t bits, ElemKind kind);
uint8_t floatToSmall(float value, ElemKind kind);

/// The storage and the arithmetic of an element type.
template <typename T> struct PlainElem {
  using Storage = T;
  using Compute = T;
  static T load(T bits) { return bits; }
  static T store(T value) { return value; }
};
struct HalfElem {
  using Storage = uint16_t;
  using Compute = float;
  static float load(uint16_t bits) { return halfToFloat(bits); }
  static uint16_t store(float value) { return floatToHalf(value); }
};
struct BfloatElem {
  using Storage = uint16_t;
  using Compute = float;
  static float load(uint16_t bits) { return bfloatToFloat(bits); }
  static uint16_t store(float value) { return floatToBfloat(value); }
};
template <ElemKind kind> struct SmallElem {
  using Storage = uint8_t;
  using Compute = float;
  static float load(uint8_t bits) { return smallToFloat(bits, kind); }
  static uint8_t store(float value) { return floatToSmall(value, kind); }
};

/// Calls `f` with a value of the type in which elements of `kind` are computed. False for kinds
/// that no chip computes with.
template <typename F> bool visitCompute(ElemKind kind, F f) {
  switch (kind) {
  case ElemKind::F16:
  case ElemKind::BF16:
  case ElemKind::F32:
  case ElemKind::F8E4M3:
  case ElemKind::F8E5M2:
    f(float{});
    return true;
  case ElemKind::I8:
    f(int8_t{});
    return true;
  case ElemKind::I16:
    f(int16_t{});
    return true;
  case ElemKind::I32:
    f(int32_t{});
    return true;
  case ElemKind::I64:
    f(int64_t{});
    return true;
  case ElemKind::U8:
    f(uint8_t{});
    return true;
  case ElemKind::U16:
    f(uint16_t{});
    return true;
  case ElemKind::U32:
    f(uint32_t{});
    return true;
  case ElemKind::U64:
    f(uint64_t{});
    return true;
  default:
    return false;
  }
}

/// Calls `f` with the storage of elements of `kind`, one of those that are computed in `C`.
template <typename C, typename F> void visitElem(ElemKind kind, F f) {
  if constexpr (std::is_same_v<C, float>) {
    switch (kind) {
    case ElemKind::F16:
      return f(HalfElem{});
    case ElemKind::BF16:
      return f(BfloatElem{});
    case ElemKind::F8E4M3:
      return f(SmallElem<ElemKind::F8E4M3>{});
    case ElemKind::F8E5M2:
      return f(SmallElem<ElemKind::F8E5M2>{});
    default:
      return f(PlainElem<float>{});
    }
  } else {
    f(PlainElem<C>{});
  }
}

// ---- rows ---------------------------------------------------------------------------------------

/// Loads `count` elements of a row, beginning at a column, in the type in which they are computed.
template <typename C>
void loadRow(const Plane &plane, int64_t row, int64_t col, int64_t count, C *out) {
  visitElem<C>(plane.elem, [&](auto elem) {
    using E = decltype(elem);
    using S = typename E::Storage;
    plane.forRuns(row, col, count, [&](const uint8_t *from, int64_t stride, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        S bits;
        std::memcpy(&bits, from + i * stride * static_cast<int64_t>(sizeof(S)), sizeof(S));
        out[i] = E::load(bits);
      }
      out += n;
    });
  });
}

/// Rounds to the element type.
template <typename C>
void storeRow(const Plane &plane, int64_t row, int64_t col, int64_t count, const C *in) {
  visitElem<C>(plane.elem, [&](auto elem) {
    using E = decltype(elem);
    using S = typename E::Storage;
    plane.forRuns(row, col, count, [&](uint8_t *to, int64_t stride, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        S bits = E::store(in[i]);
        std::memcpy(to + i * stride * static_cast<int64_t>(sizeof(S)), &bits, sizeof(S));
      }
      in += n;
    });
  });
}

template <typename C> C loadOne(const Plane &plane, int64_t row, int64_t col) {
  C value;
  loadRow(plane, row, col, 1, &value);
  return value;
}
template <typename C> void storeOne(const Plane &plane, int64_t row, int64_t col, C value) {
  storeRow(plane, row, col, 1, &value);
}

/// Loads the bits of a row, for moves without conversion. `out` has room for `count` elements.
void loadBits(const Plane &plane, int64_t row, int64_t col, int64_t count, uint8_t *out);
void storeBits(const Plane &plane, int64_t row, int64_t col, int64_t count, const uint8_t *in);

/// The contents of uninitialised memory: NaN in every float type, a large odd number in every
/// integer type.
inline constexpr uint16_t kPoisonPattern = 0x7fff;
/// Fills an even number of bytes.
void poison(uint8_t *memory, int64_t bytes);

} // namespace ptl::rt::sim
