// Arithmetic of the scalar unit.

#include "passes/prover/calculate.h"

#include <algorithm>

namespace ptl::prove {

static int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static int64_t ceilDivide(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

static bool compare(int64_t predicate, int64_t a, int64_t b) {
  auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  // The order is that of MLIR's predicates.
  bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, x<y, x <= y, x> y, x >= y};
  return results[predicate];
}

static int64_t divide(Calc calc, int64_t x, int64_t y) {
  // MLIR leaves these undefined; any value will do, but the prover must not crash.
  if (y == 0 || (y == -1 && x == INT64_MIN))
    return 0;
  auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  switch (calc) {
  case Calc::Div:
    return x / y;
  case Calc::DivUnsigned:
    return static_cast<int64_t>(ux / uy);
  case Calc::CeilDiv:
    return ceilDivide(x, y);
  case Calc::CeilDivUnsigned:
    return static_cast<int64_t>(ux / uy + (ux % uy != 0));
  case Calc::FloorDiv:
    return floorDivide(x, y);
  case Calc::Rem:
    return x % y;
  default:
    return static_cast<int64_t>(ux % uy);
  }
}

static int64_t wrap(int64_t bits, int64_t value) {
  // A shift by 64 is undefined in C++.
  return bits >= 64
             ? value
             : static_cast<int64_t>(static_cast<uint64_t>(value) & ((uint64_t(1) << bits) - 1));
}

/// Registers hold numbers of all widths with their sign; a truth value is 0 or 1.
static int64_t wrapSigned(int64_t bits, int64_t value) {
  int64_t low = wrap(bits, value);
  bool isNegative = bits > 1 && bits < 64 && (low >> (bits - 1) & 1);
  return isNegative ? low - (int64_t(1) << bits) : low;
}

Scalar calculate(const Step &step, const Scalar *a, const Scalar *b, const Scalar *c) {
  auto calc = static_cast<Calc>(step.sub);
  if (calc == Calc::Constant)
    return {step.imm, false};
  // A copy keeps everything that is known of the value.
  if (calc == Calc::Copy)
    return *a;
  if (calc == Calc::Truncate)
    return {wrap(step.imm, a->value), a->data};
  if (calc == Calc::TruncateSigned)
    return {wrapSigned(step.imm, a->value), a->data};
  if (calc == Calc::Select) {
    // What decides the choice is part of where the result comes from.
    Scalar chosen = a->value ? *b : *c;
    return {chosen.value, chosen.data || a->data, std::max(b->bound(), c->bound())};
  }
  int64_t x = a->value, y = b->value;
  auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  auto result = [&]() -> int64_t {
    switch (calc) {
    case Calc::Add:
      // Unsigned arithmetic wraps, as the hardware does.
      return static_cast<int64_t>(ux + uy);
    case Calc::Sub:
      return static_cast<int64_t>(ux - uy);
    case Calc::Mul:
      return static_cast<int64_t>(ux * uy);
    case Calc::Min:
      return std::min(x, y);
    case Calc::Max:
      return std::max(x, y);
    case Calc::MinUnsigned:
      return static_cast<int64_t>(std::min(ux, uy));
    case Calc::MaxUnsigned:
      return static_cast<int64_t>(std::max(ux, uy));
    case Calc::And:
      return x & y;
    case Calc::Or:
      return x | y;
    case Calc::Xor:
      return x ^ y;
    case Calc::Shl:
      // A shift by the width or more gives 0.
      return uy < 64 ? static_cast<int64_t>(ux << uy) : 0;
    case Calc::Shr:
      return uy < 64 ? x >> uy : 0;
    case Calc::ShrUnsigned:
      return uy < 64 ? static_cast<int64_t>(ux >> uy) : 0;
    case Calc::Compare:
      return compare(step.imm, x, y);
    default:
      return divide(calc, x, y);
    }
  };
  // Of data only the bound is known; `min` and `max` are what keep it.
  int64_t most = calc == Calc::Min   ? std::min(a->bound(), b->bound())
                 : calc == Calc::Max ? std::max(a->bound(), b->bound())
                                     : INT64_MAX;
  return {result(), a->data || b->data, most};
}

} // namespace ptl::prove
