#include "codegen/reference/scalar_integer.h"

namespace ptl::reference {
namespace {

/// Two operands with the properties of their type.
struct Integers {
  int64_t a;
  int64_t b;
  bool isUnsigned;
  bool floors; ///< division of `int`
  unsigned bits;

  uint64_t ua() const { return static_cast<uint64_t>(a); }
  uint64_t ub() const { return static_cast<uint64_t>(b); }
  bool aIsLess() const { return isUnsigned ? ua() < ub() : a < b; }
};

uint64_t quotient(const Integers &x) {
  if (x.isUnsigned)
    return x.ua() / x.ub();
  if (x.b == -1)
    return 0 - x.ua(); // the smallest value would overflow
  int64_t q = x.a / x.b;
  bool isInexact = x.a % x.b != 0;
  return static_cast<uint64_t>(x.floors && isInexact && ((x.a < 0) != (x.b < 0)) ? q - 1 : q);
}

uint64_t remainder(const Integers &x) { return x.ua() - x.ub() * quotient(x); }

/// The quotient rounded up, whatever the division of the type does.
uint64_t ceilQuotient(Integers x) {
  if (x.isUnsigned)
    return x.ua() / x.ub() + (x.ua() % x.ub() != 0);
  x.floors = true;
  uint64_t q = quotient(x);
  return q + (x.ua() - x.ub() * q != 0);
}

uint64_t power(const Integers &x) {
  if (!x.isUnsigned && x.b < 0) {
    if (x.a == 1)
      return 1;
    if (x.a == -1)
      return x.b % 2 == 0 ? 1 : ~uint64_t{0};
    return 0;
  }
  uint64_t result = 1;
  uint64_t base = x.ua();
  for (uint64_t left = x.ub(); left != 0; left >>= 1) {
    if (left & 1)
      result *= base;
    base *= base;
  }
  return result;
}

uint64_t shifted(OpId op, const Integers &x) {
  bool isBeyond = x.isUnsigned ? x.ub() >= x.bits : x.b < 0 || x.b >= static_cast<int64_t>(x.bits);
  if (op == OpId::Shl)
    return isBeyond ? 0 : x.ua() << x.b;
  if (isBeyond)
    return !x.isUnsigned && x.a < 0 ? ~uint64_t{0} : 0;
  return x.isUnsigned ? x.ua() >> x.b : static_cast<uint64_t>(x.a >> x.b);
}

std::optional<uint64_t> unary(OpId op, int64_t x, bool isUnsigned) {
  auto bits = static_cast<uint64_t>(x);
  switch (op) {
  case OpId::Neg:
    return 0 - bits;
  case OpId::Abs:
    return !isUnsigned && x < 0 ? 0 - bits : bits;
  case OpId::Sign:
    if (x == 0)
      return 0;
    return !isUnsigned && x < 0 ? ~uint64_t{0} : 1;
  default:
    return std::nullopt;
  }
}

std::optional<uint64_t> binary(OpId op, const Integers &x) {
  switch (op) {
  case OpId::Add:
    return x.ua() + x.ub();
  case OpId::Sub:
    return x.ua() - x.ub();
  case OpId::Mul:
    return x.ua() * x.ub();
  case OpId::Div:
    return quotient(x);
  case OpId::Rem:
    return remainder(x);
  case OpId::Cdiv:
    return ceilQuotient(x);
  case OpId::Pow:
    return power(x);
  case OpId::Shl:
  case OpId::Shr:
    return shifted(op, x);
  case OpId::BitAnd:
    return x.ua() & x.ub();
  case OpId::BitOr:
    return x.ua() | x.ub();
  case OpId::BitXor:
    return x.ua() ^ x.ub();
  case OpId::Max:
  case OpId::MaxNan:
    return x.aIsLess() ? x.ub() : x.ua();
  case OpId::Min:
  case OpId::MinNan:
    return x.aIsLess() ? x.ua() : x.ub();
  default:
    return std::nullopt;
  }
}

bool divides(OpId op) { return op == OpId::Div || op == OpId::Rem || op == OpId::Cdiv; }

} // namespace

EvalStatus evalInteger(OpId op, ElemKind elem, std::span<const Scalar> args, Scalar &result) {
  ElemClass elemClass = elemInfo(elem).elemClass;
  Integers x{args[0].i, args.size() > 1 ? args[1].i : 0, elemClass == ElemClass::Unsigned,
             elemClass == ElemClass::Position, elemBits(elem)};
  std::optional<uint64_t> value;
  if (args.size() == 1)
    value = unary(op, x.a, x.isUnsigned);
  else if (args.size() == 2) {
    if (divides(op) && x.b == 0)
      return EvalStatus::DivisionByZero;
    value = binary(op, x);
  } else if (op == OpId::Clamp) {
    x.a = static_cast<int64_t>(*binary(OpId::Max, x));
    x.b = args[2].i;
    value = binary(OpId::Min, x);
  }
  if (!value)
    return EvalStatus::NotScalar;
  result = Scalar::integer(wrapInteger(*value, elem));
  return EvalStatus::Ok;
}

} // namespace ptl::reference
