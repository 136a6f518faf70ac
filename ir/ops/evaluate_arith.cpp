#include "ir/ops/evaluate_arith.h"

#include <algorithm>
#include <cmath>

namespace ptl {
namespace {

enum class Rule : uint8_t { Int, Unsigned, Float, Cast };
constexpr Rule rules[] = {
#define ARITH(NAME, OPERATION, OPERANDS, RULE, CPP, BINDS, PTL) Rule::RULE,
#include "ir/ops/arith_ops.def"
};

unsigned bitsOf(ElemKind kind) { return kind == ElemKind::Bool ? 1 : elemBits(kind); }

int64_t wrap(uint64_t value, ElemKind kind) {
  // A truth value keeps only its lowest bit.
  return kind == ElemKind::Bool ? static_cast<int64_t>(value & 1) : wrapInteger(value, kind);
}
uint64_t zeroExtended(int64_t value, ElemKind kind) {
  // The bits above the type are shifted out and come back as zeros.
  unsigned unused = 64 - bitsOf(kind);
  return static_cast<uint64_t>(value) << unused >> unused;
}

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

bool divides(ArithOp op) {
  switch (op) {
  case ArithOp::DivSI:
  case ArithOp::DivUI:
  case ArithOp::RemSI:
  case ArithOp::RemUI:
  case ArithOp::CeilDivSI:
  case ArithOp::CeilDivUI:
  case ArithOp::FloorDivSI:
    return true;
  default:
    return false;
  }
}

/// Wrapping is that of unsigned numbers, so sums and products are taken of these.
int64_t evaluateInt(ArithOp op, int64_t a, int64_t b) {
  auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
  case ArithOp::AddI:
    return static_cast<int64_t>(x + y);
  case ArithOp::SubI:
    return static_cast<int64_t>(x - y);
  case ArithOp::MulI:
    return static_cast<int64_t>(x * y);
  case ArithOp::DivSI:
    // The negation of the least number wraps; the division would trap.
    return b == -1 ? static_cast<int64_t>(0 - x) : a / b;
  case ArithOp::RemSI:
    return b == -1 ? 0 : a % b;
  case ArithOp::CeilDivSI:
    return b == -1 ? static_cast<int64_t>(0 - x) : ceilDiv(a, b);
  case ArithOp::FloorDivSI:
    return b == -1 ? static_cast<int64_t>(0 - x) : floorDiv(a, b);
  case ArithOp::MinSI:
    return std::min(a, b);
  case ArithOp::MaxSI:
    return std::max(a, b);
  case ArithOp::AndI:
    return a & b;
  case ArithOp::OrI:
    return a | b;
  case ArithOp::XorI:
    return a ^ b;
  case ArithOp::ShlI:
    // MLIR leaves larger shifts undefined; 0 is as good as any value.
    return y < 64 ? static_cast<int64_t>(x << y) : 0;
  case ArithOp::ShrSI:
    // A shift by the width fills with the sign.
    return a >> std::min<uint64_t>(y, 63);
  case ArithOp::AbsI:
    return a < 0 ? static_cast<int64_t>(0 - x) : a;
  default: // casts
    return a;
  }
}

uint64_t evaluateUnsigned(ArithOp op, uint64_t a, uint64_t b) {
  switch (op) {
  case ArithOp::DivUI:
    return a / b;
  case ArithOp::RemUI:
    return a % b;
  case ArithOp::CeilDivUI:
    return a / b + (a % b != 0);
  case ArithOp::MinUI:
    return std::min(a, b);
  case ArithOp::MaxUI:
    return std::max(a, b);
  case ArithOp::ShrUI:
    return b < 64 ? a >> b : 0;
  default:
    return a;
  }
}

double evaluateFloat(ArithOp op, double a, double b) {
  switch (op) {
  case ArithOp::AddF:
    return a + b;
  case ArithOp::SubF:
    return a - b;
  case ArithOp::MulF:
    return a * b;
  case ArithOp::DivF:
    return a / b;
  case ArithOp::RemF:
    return std::fmod(a, b);
  case ArithOp::NegF:
    return -a;
  case ArithOp::MaximumF:
    // A NaN on either side is the result.
    return a > b || std::isnan(a) ? a : b;
  case ArithOp::MinimumF:
    return a < b || std::isnan(a) ? a : b;
  case ArithOp::MaxNumF:
    return std::fmax(a, b);
  case ArithOp::MinNumF:
    return std::fmin(a, b);
  case ArithOp::AbsF:
    return std::fabs(a);
  case ArithOp::ExpF:
    return std::exp(a);
  case ArithOp::LogF:
    return std::log(a);
  case ArithOp::SqrtF:
    return std::sqrt(a);
  case ArithOp::RsqrtF:
    return 1 / std::sqrt(a);
  case ArithOp::FloorF:
    return std::floor(a);
  case ArithOp::CeilF:
    return std::ceil(a);
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
  // With a NaN ordered comparisons are false and unordered ones are true.
  if (unordered)
    return predicate > 7;
  // Both groups of six list the same comparisons.
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

Scalar evaluateCast(const ArithUse &use, std::span<const Scalar> operands) {
  ElemKind from = use.operandType, to = use.type;
  const Scalar &a = operands[0];
  switch (use.op) {
  case ArithOp::CmpI:
    return Scalar::boolean(compareInts(use.predicate, a.i, operands[1].i, zeroExtended(a.i, from),
                                       zeroExtended(operands[1].i, from)));
  case ArithOp::CmpF:
    return Scalar::boolean(compareFloats(use.predicate, a.f, operands[1].f));
  case ArithOp::Select:
    return a.i ? operands[1] : operands[2];
  // The types say how many bits there are, and the operations whether these have a sign.
  case ArithOp::SIToFP:
    return convertScalar(a, ElemKind::I64, to);
  case ArithOp::UIToFP:
    return convertScalar(Scalar::integer(static_cast<int64_t>(zeroExtended(a.i, from))),
                         ElemKind::U64, to);
  case ArithOp::FPToSI:
    return convertScalar(a, from, to, RoundMode::Zero);
  case ArithOp::FPToUI: {
    Scalar word = convertScalar(a, from, ElemKind::U64, RoundMode::Zero);
    uint64_t largest = ~uint64_t{0} >> (64 - bitsOf(to));
    return Scalar::integer(wrap(std::min(static_cast<uint64_t>(word.i), largest), to));
  }
  default:
    return bitcastScalar(a, from, to);
  }
}

} // namespace

std::optional<Scalar> evaluate(const ArithUse &use, std::span<const Scalar> operands) {
  ElemKind from = use.operandType, to = use.type;
  Scalar first = operands[0], second = operands.size() > 1 ? operands[1] : Scalar();
  // A division by zero has no value, so it is not folded.
  if (divides(use.op) && second.i == 0)
    return std::nullopt;
  switch (rules[static_cast<size_t>(use.op)]) {
  case Rule::Int: {
    // An `i1` that is extended with its sign becomes 0 or -1, but is stored as 0 or 1.
    bool isMask = use.op == ArithOp::ExtSI && from == ElemKind::Bool;
    int64_t value = evaluateInt(use.op, isMask ? -first.i : first.i, second.i);
    return Scalar::integer(wrap(static_cast<uint64_t>(value), to));
  }
  case Rule::Unsigned:
    return Scalar::integer(wrap(
        evaluateUnsigned(use.op, zeroExtended(first.i, from), zeroExtended(second.i, from)), to));
  case Rule::Float:
    return Scalar::real(roundFloat(evaluateFloat(use.op, first.f, second.f), to));
  case Rule::Cast:
    return evaluateCast(use, operands);
  }
  return std::nullopt;
}

} // namespace ptl
