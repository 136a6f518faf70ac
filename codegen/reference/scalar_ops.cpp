#include "codegen/reference/scalar_ops.h"

#include "codegen/reference/scalar_float.h"
#include "codegen/reference/scalar_integer.h"
#include "codegen/reference/scalar_internal.h"
#include "ir/ops/op_lowering.h"

#include <cmath>

namespace ptl::reference {
namespace {

/// Three-way order of two values that are not NaN.
bool lessThan(ElemKind elem, Scalar a, Scalar b) {
  if (isFloat(elem))
    return a.f < b.f;
  if (elemInfo(elem).elemClass == ElemClass::Unsigned)
    return static_cast<uint64_t>(a.i) < static_cast<uint64_t>(b.i);
  return a.i < b.i;
}

bool equal(ElemKind elem, Scalar a, Scalar b) { return isFloat(elem) ? a.f == b.f : a.i == b.i; }

std::optional<bool> evalComparison(OpId op, ElemKind elem, std::span<const Scalar> args) {
  switch (op) {
  case OpId::Eq:
    return equal(elem, args[0], args[1]);
  case OpId::Ne:
    return !equal(elem, args[0], args[1]);
  case OpId::Lt:
    return lessThan(elem, args[0], args[1]);
  case OpId::Le:
    return lessThan(elem, args[0], args[1]) || equal(elem, args[0], args[1]);
  case OpId::Gt:
    return lessThan(elem, args[1], args[0]);
  case OpId::Ge:
    return lessThan(elem, args[1], args[0]) || equal(elem, args[0], args[1]);
  case OpId::IsNan:
    return std::isnan(args[0].f);
  case OpId::IsInf:
    return std::isinf(args[0].f);
  case OpId::IsFinite:
    return std::isfinite(args[0].f);
  default:
    return std::nullopt;
  }
}

EvalStatus evalBool(OpId op, std::span<const Scalar> args, Scalar &result) {
  bool a = args[0].i != 0;
  bool b = args.size() > 1 && args[1].i != 0;
  switch (op) {
  case OpId::And:
  case OpId::BitAnd:
    result = Scalar::boolean(a && b);
    return EvalStatus::Ok;
  case OpId::Or:
  case OpId::BitOr:
    result = Scalar::boolean(a || b);
    return EvalStatus::Ok;
  case OpId::BitXor:
    result = Scalar::boolean(a != b);
    return EvalStatus::Ok;
  case OpId::Not:
    result = Scalar::boolean(!a);
    return EvalStatus::Ok;
  default:
    return EvalStatus::NotScalar;
  }
}

EvalStatus evalFloat(OpId op, ElemKind elem, std::span<const Scalar> args, Scalar &result) {
  std::optional<double> value;
  if (args.size() == 1)
    value = floatUnary(op, args[0].f);
  else if (args.size() == 2)
    value = floatBinary(op, args[0].f, args[1].f);
  else if (args.size() == 3)
    value = floatTernary(op, elem, args[0].f, args[1].f, args[2].f);
  if (!value)
    return EvalStatus::NotScalar;
  result = Scalar::real(*value);
  return EvalStatus::Ok;
}

} // namespace

bool isScalarOp(OpId op) {
  OpClass opClass = opRecord(op).opClass;
  return opClass == OpClass::Elementwise || opClass == OpClass::Comparison ||
         opClass == OpClass::Select;
}

ElemKind scalarResult(OpId op, ElemKind elem) {
  return opRecord(op).opClass == OpClass::Comparison ? ElemKind::Bool : elem;
}

EvalStatus evalScalar(OpId op, ElemKind elem, std::span<const Scalar> args, Scalar &result) {
  // The condition is no element of the type, so a selection comes before what depends on the type.
  if (op == OpId::Select) {
    result = args[0].i != 0 ? args[1] : args[2];
    return EvalStatus::Ok;
  }
  // Comparisons give truth values for every type.
  if (auto truth = evalComparison(op, elem, args)) {
    result = Scalar::boolean(*truth);
    return EvalStatus::Ok;
  }
  if (elem == ElemKind::Bool)
    return evalBool(op, args, result);
  if (isFloat(elem))
    return evalFloat(op, elem, args, result);
  return evalInteger(op, elem, args, result);
}

std::optional<Scalar> foldStart(OpId op, ElemKind acc) {
  std::optional<OpId> combiner = opLowering(op).combiner;
  return combiner ? std::optional(identityOf(*combiner, acc)) : std::nullopt;
}

Scalar quantizeScalar(double x, double scale, int64_t zero, ElemKind elem, ElemKind to) {
  // The quotient is a value of the element type; the offset is added to the whole number.
  double quotient = roundFloat(x / scale, elem);
  if (isFloat(to))
    return Scalar::real(convertFloat(quotient + static_cast<double>(zero), to));
  double whole = std::nearbyint(quotient) + static_cast<double>(zero);
  return convertScalar(Scalar::real(whole), ElemKind::F64, to);
}

Scalar dequantizeScalar(Scalar q, ElemKind from, double scale, int64_t zero, ElemKind to) {
  double steps = convertScalar(q, from, ElemKind::F64).f - static_cast<double>(zero);
  return Scalar::real(roundFloat(roundFloat(steps, to) * scale, to));
}

PhiloxBlock philox4x32(const PhiloxBlock &counter, uint64_t key) {
  // These are the constants of Philox4x32-10 (Salmon et al., 2011); changing one would change all
  // random arrays.
  constexpr uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
  auto key0 = static_cast<uint32_t>(key);
  auto key1 = static_cast<uint32_t>(key >> 32);
  PhiloxBlock c = counter;
  // Ten rounds are what the authors recommend for statistical quality.
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = multiplier0 * c.words[0];
    uint64_t product1 = multiplier1 * c.words[2];
    c = {{static_cast<uint32_t>(product1 >> 32) ^ c.words[1] ^ key0,
          static_cast<uint32_t>(product1),
          static_cast<uint32_t>(product0 >> 32) ^ c.words[3] ^ key1,
          static_cast<uint32_t>(product0)}};
    key0 += weyl0;
    key1 += weyl1;
  }
  return c;
}

uint32_t philoxBits(uint64_t counter, uint64_t seed) {
  // Each block gives four words, so consecutive counters share one.
  uint64_t block = counter / 4;
  PhiloxBlock start = {{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0}};
  return philox4x32(start, seed).words[counter % 4];
}

Scalar randomScalar(uint32_t bits, ElemKind elem, Scalar low, Scalar high) {
  if (elem == ElemKind::Bool)
    return Scalar::boolean(bits & 1);
  if (!isFloat(elem)) {
    // The subtraction wraps, so the extent is right even if it does not fit a signed number.
    uint64_t extent = static_cast<uint64_t>(high.i) - static_cast<uint64_t>(low.i);
    uint64_t offset = extent == 0 ? 0 : bits % extent;
    return Scalar::integer(wrapInteger(static_cast<uint64_t>(low.i) + offset, elem));
  }
  // One rounding per line, so that no compiler fuses a product with a sum.
  auto from = static_cast<float>(low.f);
  float extent = static_cast<float>(high.f) - from;
  // The upper 24 bits are as many as `f32` holds exactly.
  float fraction = static_cast<float>(bits >> 8) * 0x1p-24F;
  float scaled = fraction * extent;
  float value = from + scaled;
  return Scalar::real(roundFloat(value, elem));
}

bool comesBefore(ElemKind elem, bool descending, Scalar a, Scalar b) {
  if (isFloat(elem) && (std::isnan(a.f) || std::isnan(b.f)))
    // NaN comes last in either direction.
    return !std::isnan(a.f) && std::isnan(b.f);
  return descending ? lessThan(elem, b, a) : lessThan(elem, a, b);
}

} // namespace ptl::reference
