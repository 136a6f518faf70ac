#include "runtime/sim/scalar.h"

#include "frontend/base/elem_convert.h"

#include <cmath>

namespace ptl::rt::sim {
namespace {

enum class How : uint8_t { Int, Unsigned, Float, Cast };
constexpr How hows[] = {
#define SCALAR(name, spelling, operands, how) How::how,
#include "runtime/sim/scalar_ops.def"
};

unsigned bitsOf(ElemKind kind) { return kind == ElemKind::Bool ? 1 : elemBits(kind); }

int64_t wrap(uint64_t value, ElemKind kind) {
  return kind == ElemKind::Bool ? static_cast<int64_t>(value & 1) : wrapInteger(value, kind);
}
uint64_t zeroExtended(int64_t value, ElemKind kind) {
  unsigned unused = 64 - bitsOf(kind);
  return static_cast<uint64_t>(value) << unused >> unused;
}

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

bool divides(ScalarOp op) {
  switch (op) {
  case ScalarOp::DivSI:
  case ScalarOp::DivUI:
  case ScalarOp::RemSI:
  case ScalarOp::RemUI:
  case ScalarOp::CeilDivSI:
  case ScalarOp::CeilDivUI:
  case ScalarOp::FloorDivSI:
    return true;
  default:
    return false;
  }
}

/// Wrapping is that of unsigned numbers, so sums and products are taken of these.
int64_t evaluateInt(ScalarOp op, int64_t a, int64_t b) {
  auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
  case ScalarOp::AddI:
    return static_cast<int64_t>(x + y);
  case ScalarOp::SubI:
    return static_cast<int64_t>(x - y);
  case ScalarOp::MulI:
    return static_cast<int64_t>(x * y);
  case ScalarOp::DivSI:
    return b == -1 ? static_cast<int64_t>(0 - x) : a / b;
  case ScalarOp::RemSI:
    return b == -1 ? 0 : a % b;
  case ScalarOp::CeilDivSI:
    return ceilDiv(a, b);
  case ScalarOp::FloorDivSI:
    return floorDiv(a, b);
  case ScalarOp::MinSI:
    return std::min(a, b);
  case ScalarOp::MaxSI:
    return std::max(a, b);
  case ScalarOp::AndI:
    return a & b;
  case ScalarOp::OrI:
    return a | b;
  case ScalarOp::XorI:
    return a ^ b;
  case ScalarOp::ShlI:
    return y < 64 ? static_cast<int64_t>(x << y) : 0;
  case ScalarOp::ShrSI:
    return a >> std::min<uint64_t>(y, 63);
  default: // casts
    return a;
  }
}

uint64_t evaluateUnsigned(ScalarOp op, uint64_t a, uint64_t b) {
  switch (op) {
  case ScalarOp::DivUI:
    return a / b;
  case ScalarOp::RemUI:
    return a % b;
  case ScalarOp::CeilDivUI:
    return a / b + (a % b != 0);
  case ScalarOp::MinUI:
    return std::min(a, b);
  case ScalarOp::MaxUI:
    return std::max(a, b);
  case ScalarOp::ShrUI:
    return b < 64 ? a >> b : 0;
  default:
    return a;
  }
}

double evaluateFloat(ScalarOp op, double a, double b) {
  switch (op) {
  case ScalarOp::AddF:
    return a + b;
  case ScalarOp::SubF:
    return a - b;
  case ScalarOp::MulF:
    return a * b;
  case ScalarOp::DivF:
    return a / b;
  case ScalarOp::RemF:
    return std::fmod(a, b);
  case ScalarOp::NegF:
    return -a;
  case ScalarOp::MaximumF:
    return a > b || std::isnan(a) ? a : b;
  case ScalarOp::MinimumF:
    return a < b || std::isnan(a) ? a : b;
  case ScalarOp::MaxNumF:
    return std::fmax(a, b);
  case ScalarOp::MinNumF:
    return std::fmin(a, b);
  case ScalarOp::AbsF:
    return std::fabs(a);
  case ScalarOp::ExpF:
    return std::exp(a);
  case ScalarOp::LogF:
    return std::log(a);
  case ScalarOp::SqrtF:
    return std::sqrt(a);
  case ScalarOp::RsqrtF:
    return 1 / std::sqrt(a);
  default:
    return a;
  }
}

/// Predicates in the order of `arith::CmpIPredicate`.
bool compareInts(uint8_t predicate, int64_t a, int64_t b, uint64_t ua, uint64_t ub) {
  switch (predicate) {
  case 0:
    return a == b;
  case 1:
    return a != b;
  case 2:
    return a < b;
  case 3:
    return a <= b;
  case 4:
    return a > b;
  case 5:
    return a >= b;
  case 6:
    return ua < ub;
  case 7:
    return ua <= ub;
  case 8:
    return ua > ub;
  default:
    return ua >= ub;
  }
}

/// Predicates in the order of `arith::CmpFPredicate`: false, six ordered, ordered, six unordered,
/// unordered, true.
bool compareFloats(uint8_t predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  if (predicate == 0 || predicate == 15)
    return predicate == 15;
  if (predicate == 7 || predicate == 14)
    return unordered == (predicate == 14);
  if (unordered)
    return predicate > 7;
  switch (predicate > 7 ? predicate - 7 : predicate) {
  case 1:
    return a == b;
  case 2:
    return a > b;
  case 3:
    return a >= b;
  case 4:
    return a < b;
  case 5:
    return a <= b;
  default:
    return a != b;
  }
}

Scalar reinterpret(Scalar value, ScalarType from, ScalarType to) {
  ptl::Scalar bits = from.isFloat() ? ptl::Scalar::real(value.f) : ptl::Scalar::integer(value.i);
  ptl::Scalar cast = bitcastScalar(bits, from.kind, to.kind);
  return {cast.i, cast.f};
}

Scalar evaluateCast(const Step &step, const Scalar *values) {
  ElemKind from = step.operandType.kind, to = step.type.kind;
  const Scalar &a = values[0];
  switch (step.op) {
  case ScalarOp::CmpI:
    return Scalar::integer(compareInts(step.predicate, a.i, values[1].i, zeroExtended(a.i, from),
                                       zeroExtended(values[1].i, from)));
  case ScalarOp::CmpF:
    return Scalar::integer(compareFloats(step.predicate, a.f, values[1].f));
  case ScalarOp::Select:
    return a.i ? values[1] : values[2];
  case ScalarOp::SIToFP:
    return Scalar::real(roundFloat(static_cast<double>(a.i), to));
  case ScalarOp::UIToFP:
    return Scalar::real(roundFloat(static_cast<double>(zeroExtended(a.i, from)), to));
  case ScalarOp::FPToSI:
  case ScalarOp::FPToUI:
    return Scalar::integer(convertScalar({a.f, 0}, from, to, RoundMode::Zero).i);
  default:
    return reinterpret(a, step.operandType, step.type);
  }
}

} // namespace

bool evaluate(const Step &step, const Scalar *values, Scalar &result, std::string &error) {
  ElemKind from = step.operandType.kind, to = step.type.kind;
  int64_t a = values[0].i, b = step.operands.size() > 1 ? values[1].i : 0;
  if (divides(step.op) && b == 0) {
    error = "divides by zero";
    return false;
  }
  switch (hows[static_cast<size_t>(step.op)]) {
  case How::Int:
    if (step.op == ScalarOp::ExtSI && from == ElemKind::Bool)
      a = -a;
    result = Scalar::integer(wrap(static_cast<uint64_t>(evaluateInt(step.op, a, b)), to));
    return true;
  case How::Unsigned:
    result = Scalar::integer(
        wrap(evaluateUnsigned(step.op, zeroExtended(a, from), zeroExtended(b, from)), to));
    return true;
  case How::Float: {
    double second = step.operands.size() > 1 ? values[1].f : 0;
    result = Scalar::real(roundFloat(evaluateFloat(step.op, values[0].f, second), to));
    return true;
  }
  case How::Cast:
    result = evaluateCast(step, values);
    return true;
  }
  return false;
}

Scalar loadScalar(const uint8_t *memory, ElemKind kind) {
  ptl::Scalar value = loadElem(memory, kind);
  return {value.i, value.f};
}

void storeScalar(uint8_t *memory, ElemKind kind, Scalar value) {
  storeElem(memory, kind, {value.f, value.i});
}

} // namespace ptl::rt::sim
