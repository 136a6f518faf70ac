// Elementwise arithmetic on arrays of one type. Integers wrap.
#pragma once

#include "ir/ops/instruction_table.h"

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace ptl::rt::sim {

/// Elements that are computed at a time: they fit into the first-level cache and onto the stack.
constexpr int64_t kChunk = 512;

enum class Binary : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  Rem,
  Fmod,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Prelu,
  ExpDif,
};

/// NaN if either operand is NaN.
template <typename C> inline C larger(C a, C b) {
  return a > b || a != a ? a : b; // NOLINT(misc-redundant-expression): NaN is not equal to itself
}
template <typename C> inline C smaller(C a, C b) {
  return a < b || a != a ? a : b; // NOLINT(misc-redundant-expression): NaN is not equal to itself
}

template <typename C> inline C remainder(C a, C b, bool signOfDivisor) {
  C rest;
  if constexpr (std::is_floating_point_v<C>) {
    rest = std::fmod(a, b);
  } else {
    if (b == 0)
      return 0;
    if constexpr (std::is_signed_v<C>)
      if (b == C(-1))
        return 0;
    rest = static_cast<C>(a % b);
  }
  if (signOfDivisor && rest != 0 && (rest < 0) != (b < 0))
    rest = static_cast<C>(rest + b);
  return rest;
}

/// Unsigned integers of the same or a larger width, for which wrapping is defined.
template <typename C> using Wrapping = std::conditional_t<sizeof(C) == 8, uint64_t, uint32_t>;

template <typename C> inline C applyInteger(Binary op, C a, C b) {
  using W = Wrapping<C>;
  switch (op) {
  case Binary::Add:
    return static_cast<C>(W(a) + W(b));
  case Binary::Sub:
    return static_cast<C>(W(a) - W(b));
  case Binary::Mul:
    return static_cast<C>(W(a) * W(b));
  case Binary::Div:
    if (b == 0)
      return 0;
    if constexpr (std::is_signed_v<C>)
      if (b == C(-1))
        return static_cast<C>(W(0) - W(a));
    return static_cast<C>(a / b);
  case Binary::And:
    return a & b;
  case Binary::Or:
    return a | b;
  case Binary::Xor:
    return a ^ b;
  case Binary::Shl:
    return static_cast<uint64_t>(b) < sizeof(C) * 8 ? static_cast<C>(W(a) << b) : C(0);
  case Binary::Shr:
    return static_cast<C>(a >>
                          (static_cast<uint64_t>(b) < sizeof(C) * 8 ? b : C(sizeof(C) * 8 - 1)));
  default:
    return a;
  }
}

template <typename C, typename F> inline void forEach(C *x, const C *y, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i)
    x[i] = f(x[i], y[i]);
}

template <typename C> void applyFloat(Binary op, C *x, const C *y, int64_t n) {
  switch (op) {
  case Binary::Add:
    return forEach(x, y, n, [](C a, C b) { return a + b; });
  case Binary::Sub:
    return forEach(x, y, n, [](C a, C b) { return a - b; });
  case Binary::Mul:
    return forEach(x, y, n, [](C a, C b) { return a * b; });
  case Binary::Div:
    return forEach(x, y, n, [](C a, C b) { return a / b; });
  case Binary::ExpDif:
    return forEach(x, y, n, [](C a, C b) { return std::exp(a - b); });
  default:
    return;
  }
}

/// x = x op y. Bit operations are for integers only.
template <typename C> void apply(Binary op, C *x, const C *y, int64_t n) {
  switch (op) {
  case Binary::Max:
    return forEach(x, y, n, [](C a, C b) { return larger(a, b); });
  case Binary::Min:
    return forEach(x, y, n, [](C a, C b) { return smaller(a, b); });
  case Binary::Rem:
    return forEach(x, y, n, [](C a, C b) { return remainder(a, b, true); });
  case Binary::Fmod:
    return forEach(x, y, n, [](C a, C b) { return remainder(a, b, false); });
  case Binary::Prelu:
    return forEach(x, y, n, [](C a, C b) { return a > 0 ? a : static_cast<C>(a * b); });
  default:
    break;
  }
  if constexpr (std::is_floating_point_v<C>)
    applyFloat(op, x, y, n);
  else
    forEach(x, y, n, [op](C a, C b) { return applyInteger(op, a, b); });
}

inline bool isBitwise(Binary op) { return op >= Binary::And && op <= Binary::Shr; }

} // namespace ptl::rt::sim
