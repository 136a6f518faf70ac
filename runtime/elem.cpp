#include "runtime/elem.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace ptl::rt {
namespace {

constexpr ElemInfo elems[] = {
#define PTL_ELEM(id, code, spelling, bits, numpy, dlpack)                                          \
  ElemInfo{PTL_##id, spelling, bits, numpy, dlpack},
#include "runtime/include/ptl_elems.def"
};

/// A small float with `mantissa` explicit bits and `exponent` bits below a sign.
double decodeSmall(uint32_t bits, int exponentBits, int mantissaBits, bool hasInfinity) {
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1);
  uint32_t exponent = (bits >> mantissaBits) & ((1u << exponentBits) - 1);
  uint32_t top = (1u << exponentBits) - 1;
  int bias = (1 << (exponentBits - 1)) - 1;
  bool negative = (bits >> (mantissaBits + exponentBits)) & 1;
  double value;
  if (exponent == top && hasInfinity)
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (exponent == top && mantissa == (1u << mantissaBits) - 1)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    // Below the normal numbers there is no implicit leading one, and the exponent is that of the
    // smallest normal number.
    value = std::ldexp(mantissa, 1 - bias - mantissaBits);
  else
    value = std::ldexp(mantissa + (1u << mantissaBits), int(exponent) - bias - mantissaBits);
  return negative ? -value : value;
}

template <typename T> T load(const void *cell) {
  T value;
  std::memcpy(&value, cell, sizeof(T));
  return value;
}

template <typename T> std::string toText(T value) {
  char text[64];
  auto result = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, result.ptr);
}

} // namespace

constexpr bool isInOrder() {
  int32_t next = 0;
  for (const ElemInfo &info : elems)
    if (info.elem != next++ || (info.bits & (info.bits - 1)) != 0)
      return false;
  return true;
}
static_assert(isInOrder(), "codes are places in the table, sizes are powers of two");

const ElemInfo *elemInfo(int32_t elem) {
  return elem >= 0 && static_cast<size_t>(elem) < std::size(elems) ? &elems[elem] : nullptr;
}

std::optional<PtlElem> elemFromName(std::string_view name) {
  for (const ElemInfo &info : elems)
    if (name == info.name)
      return info.elem;
  return std::nullopt;
}

const char *elemName(int32_t elem) {
  const ElemInfo *info = elemInfo(elem);
  return info ? info->name : "unknown";
}

bool sameStorage(int32_t declared, int32_t given) {
  auto merge = [](int32_t elem) { return elem == PTL_INT ? int32_t(PTL_I64) : elem; };
  return merge(declared) == merge(given);
}

Number loadElem(int32_t elem, const void *cell) {
  switch (elem) {
  case PTL_BOOL:
    return Number::integer(load<uint8_t>(cell) != 0);
  case PTL_I8:
    return Number::integer(load<int8_t>(cell));
  case PTL_I16:
    return Number::integer(load<int16_t>(cell));
  case PTL_I32:
    return Number::integer(load<int32_t>(cell));
  case PTL_I64:
  case PTL_INT:
    return Number::integer(load<int64_t>(cell));
  case PTL_U8:
    return Number::integer(load<uint8_t>(cell));
  case PTL_U16:
    return Number::integer(load<uint16_t>(cell));
  case PTL_U32:
    return Number::integer(load<uint32_t>(cell));
  case PTL_U64: {
    // Beyond the signed range only the magnitude matters to a comparison.
    uint64_t value = load<uint64_t>(cell);
    return value <= uint64_t(INT64_MAX) ? Number::integer(value) : Number::floating(double(value));
  }
  case PTL_F8E8M0: {
    uint8_t code = load<uint8_t>(cell);
    return Number::floating(code == 255 ? std::numeric_limits<double>::quiet_NaN()
                                        : std::ldexp(1.0, code - 127));
  }
  case PTL_F8E4M3:
    return Number::floating(decodeSmall(load<uint8_t>(cell), 4, 3, false));
  case PTL_F8E5M2:
    return Number::floating(decodeSmall(load<uint8_t>(cell), 5, 2, true));
  case PTL_F16:
    return Number::floating(decodeSmall(load<uint16_t>(cell), 5, 10, true));
  case PTL_BF16:
    return Number::floating(decodeSmall(load<uint16_t>(cell), 8, 7, true));
  case PTL_F32:
    return Number::floating(load<float>(cell));
  case PTL_F64:
    return Number::floating(load<double>(cell));
  default:
    return Number::integer(0);
  }
}

std::string formatElem(int32_t elem, const void *cell) {
  if (elem == PTL_BOOL)
    return load<uint8_t>(cell) ? "true" : "false";
  if (elem == PTL_U64)
    return toText(load<uint64_t>(cell));
  Number number = loadElem(elem, cell);
  if (!number.isFloat)
    return toText(number.i);
  if (std::isnan(number.f))
    return "nan";
  // The narrow types are exact in `float`, whose shortest text is the readable one.
  return elem == PTL_F64 ? toText(number.f) : toText(static_cast<float>(number.f));
}

} // namespace ptl::rt
