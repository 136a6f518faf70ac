// Elementwise operations: one table row each.
#include "codegen/cpu/lower_elementwise.h"
#include "codegen/cpu/math_approx.h"
#include "codegen/cpu/math_inverse.h"
#include "ir/dialect/op_facts.h"

#include <cmath>
#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

namespace {
/// The input of a row: operands in register form (all of one shape), logical types, the operation.
struct Element {
  const Emit &e;
  Operation *op;
  ValueRange x;
  Type in, out; ///< logical element types of the first operand and of the result

  bool real() const { return isFloatElem(in); }
  bool isSigned() const { return !isUnsigned(in); }
  Type shape() const { return x[0].getType(); }
};
using EmitElement = Value (*)(const Element &);

struct Row {
  const char *name;
  EmitElement emit;
};
} // namespace

// --- arithmetic ----------------------------------------------------------------------------------

static Value compareInt(const Element &a, CmpIPredicate signedOne, CmpIPredicate unsignedOne,
                        Value x, Value y) {
  return a.e.cmpi(a.isSigned() ? signedOne : unsignedOne, x, y);
}

static Value nonZeroDivisor(const Element &a, Value divisor) {
  Value zero = a.e.cmpi(CmpIPredicate::eq, divisor, 0);
  return a.e.select(zero, a.e.integer(divisor.getType(), 1), divisor);
}

// Truncating division and remainder that never trap: x / 0 is x, and the smallest number / -1
// wraps.
static std::pair<Value, Value> divide(const Element &a) {
  const Emit &e = a.e;
  Value x = a.x[0], y = nonZeroDivisor(a, a.x[1]);
  if (!a.isSigned())
    return {e.b.create<arith::DivUIOp>(e.loc, x, y), e.b.create<arith::RemUIOp>(e.loc, x, y)};
  // The smallest number divided by -1 overflows, which traps on x86.
  Value minusOne = e.cmpi(CmpIPredicate::eq, y, -1);
  Value safe = e.select(minusOne, e.integer(y.getType(), 1), y);
  Value quotient = e.b.create<arith::DivSIOp>(e.loc, x, safe);
  quotient = e.select(minusOne, e.neg(x), quotient);
  // The remainder from the quotient saves a second division.
  Value remainder = e.sub(x, e.mul(quotient, y));
  return {quotient, remainder};
}

/// Whether the floor of a quotient is one below what truncation gives: a remainder is left, whose
/// sign is not that of the divisor. Sizes are divided so.
static Value roundsDown(const Element &a, Value remainder) {
  Value nonZero = a.e.cmpi(CmpIPredicate::ne, remainder, 0);
  Value differ = a.e.cmpi(CmpIPredicate::slt, a.e.bitXor(remainder, a.x[1]), 0);
  return a.e.bitAnd(nonZero, differ);
}

static Value emitDiv(const Element &a) {
  if (a.real())
    return a.e.divf(a.x[0], a.x[1]);
  auto [quotient, remainder] = divide(a);
  if (!a.in.isIndex())
    return quotient;
  return a.e.select(roundsDown(a, remainder), a.e.sub(quotient, a.e.integer(a.shape(), 1)),
                    quotient);
}

static Value emitRem(const Element &a) {
  if (a.real())
    return emitFmod(a.e, a.x[0], a.x[1]);
  auto [quotient, remainder] = divide(a);
  if (!a.in.isIndex())
    return remainder;
  return a.e.select(roundsDown(a, remainder), a.e.add(remainder, a.x[1]), remainder);
}

static Value emitCdiv(const Element &a) {
  auto [quotient, remainder] = divide(a);
  Value nonZero = a.e.cmpi(CmpIPredicate::ne, remainder, 0);
  // Truncation has rounded a negative quotient up already, so only a positive one is too small.
  Value up = nonZero;
  if (a.isSigned()) {
    Value sameSign = a.e.cmpi(CmpIPredicate::sge, a.e.bitXor(a.x[0], a.x[1]), 0);
    up = a.e.bitAnd(nonZero, sameSign);
  }
  return a.e.select(up, a.e.add(quotient, a.e.integer(a.shape(), 1)), quotient);
}

static Value integerPower(const Element &a) {
  const Emit &e = a.e;
  Value one = e.integer(a.shape(), 1);
  int64_t width = scalarOf(a.shape()).isIndex() ? 64 : scalarOf(a.shape()).getIntOrFloatBitWidth();
  Value result = one, square = a.x[0], exponent = a.x[1];
  Value count = e.index(width);
  // As many rounds as the exponent has bits: the lanes of a vector have different exponents.
  auto done = e.loop(e.index(0), count, e.index(1), {result, square, exponent},
                     [&](const Emit &, Value, ValueRange v) -> SmallVector<Value> {
                       Value odd = e.cmpi(CmpIPredicate::ne, e.bitAnd(v[2], 1), 0);
                       return {e.select(odd, e.mul(v[0], v[1]), v[0]), e.mul(v[1], v[1]),
                               e.shrUnsigned(v[2], 1)};
                     });
  if (!a.isSigned())
    return done[0];
  // A power with a negative exponent is a fraction, which becomes 0, unless the base is 1 or -1.
  Value negative = e.cmpi(CmpIPredicate::slt, exponent, 0);
  Value isOne = e.cmpi(CmpIPredicate::eq, a.x[0], 1);
  Value isMinusOne = e.cmpi(CmpIPredicate::eq, a.x[0], -1);
  Value odd = e.cmpi(CmpIPredicate::ne, e.bitAnd(exponent, 1), 0);
  Value reciprocal = e.select(isOne, one, e.zero(a.shape()));
  reciprocal = e.select(isMinusOne, e.select(odd, e.integer(a.shape(), -1), one), reciprocal);
  return e.select(negative, reciprocal, done[0]);
}

// The number that `value` is in all lanes, if it is a constant.
static std::optional<double> constantNumber(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return std::nullopt;
  Attribute attribute = constant.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute); dense && dense.isSplat())
    attribute = dense.getSplatValue<Attribute>();
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return real.getValueAsDouble();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return static_cast<double>(integer.getValue().getSExtValue());
  return std::nullopt;
}

// x ** n of floats where a root or a reciprocal is as exact as a logarithm and an exponential; null for other exponents.
static Value rootPower(const Element &a, double number) {
  const Emit &e = a.e;
  Value one = e.real(a.shape(), 1.0);
  if (number == -1)
    return e.divf(one, a.x[0]);
  if (number == -2) {
    Value reciprocal = e.divf(one, a.x[0]);
    return e.mul(reciprocal, reciprocal);
  }
  if (std::abs(number) != 0.5)
    return {};
  // Unlike a root, the power of -0 is 0, and that of -inf is inf.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value root = e.b.create<math::SqrtOp>(e.loc, e.add(a.x[0], e.zero(a.shape())));
  root = e.select(e.cmpf(CmpFPredicate::OEQ, a.x[0], -infinity), e.real(a.shape(), infinity), root);
  return number < 0 ? e.divf(one, root) : root;
}

// x ** n for a small whole constant n, by squaring, and for a few others; null for other exponents.
static Value constantPower(const Element &a) {
  std::optional<double> constant = constantNumber(a.x[1]);
  if (!constant)
    return {};
  double number = *constant;
  if (Value root = a.real() ? rootPower(a, number) : Value())
    return root;
  // Few multiplications are faster than a logarithm and an exponential, exact for whole numbers,
  // and legal for negative bases.
  // Beyond this a power by squaring rounds too often to be as exact as the general form.
  if (number != std::trunc(number) || number < 1 || number > 64)
    return {};
  Value result, square = a.x[0];
  for (auto n = static_cast<int64_t>(number); n; n /= 2) {
    if (n % 2)
      result = result ? a.e.mul(result, square) : square;
    if (n > 1)
      square = a.e.mul(square, square);
  }
  return result;
}

static Value emitPower(const Element &a) {
  if (Value product = constantPower(a))
    return product;
  return a.real() ? emitPow(a.e, a.x[0], a.x[1]) : integerPower(a);
}

template <bool Left> static Value emitShift(const Element &a) {
  const Emit &e = a.e;
  int64_t width = scalarOf(a.shape()).isIndex() ? 64 : scalarOf(a.shape()).getIntOrFloatBitWidth();
  // A shift by the width or more is poison in LLVM; as an unsigned number a negative amount is too
  // large as well.
  Value legal = e.cmpi(CmpIPredicate::ult, a.x[1], width);
  Value amount = e.select(legal, a.x[1], e.zero(a.shape()));
  if (Left)
    return e.select(legal, e.b.create<arith::ShLIOp>(e.loc, a.x[0], amount), e.zero(a.shape()));
  if (!a.isSigned())
    return e.select(legal, e.b.create<arith::ShRUIOp>(e.loc, a.x[0], amount), e.zero(a.shape()));
  // An arithmetic shift by all bits but one leaves the sign, which is the result for any larger
  // amount.
  amount = e.select(legal, a.x[1], e.integer(a.shape(), width - 1));
  return e.b.create<arith::ShRSIOp>(e.loc, a.x[0], amount);
}

// --- comparison, minimum, maximum ----------------------------------------------------------------

template <CmpFPredicate Real, CmpIPredicate Signed, CmpIPredicate Unsigned>
static Value emitCompare(const Element &a) {
  if (a.real())
    return a.e.cmpf(Real, a.x[0], a.x[1]);
  return compareInt(a, Signed, Unsigned, a.x[0], a.x[1]);
}

static Value extreme(const Element &a, bool larger, Value x, Value y) {
  Value first;
  if (a.real())
    first = a.e.cmpf(larger ? CmpFPredicate::OGT : CmpFPredicate::OLT, x, y);
  else
    first = compareInt(a, larger ? CmpIPredicate::sgt : CmpIPredicate::slt,
                       larger ? CmpIPredicate::ugt : CmpIPredicate::ult, x, y);
  return a.e.select(first, x, y);
}
template <bool Larger> static Value emitExtreme(const Element &a) {
  return extreme(a, Larger, a.x[0], a.x[1]);
}
/// NaN in either operand stays, and of two zeros the sign decides.
static Value emitExtremeNanBySelection(const Element &a, bool larger) {
  const Emit &e = a.e;
  Value x = a.x[0], y = a.x[1];
  // Registers hold `f16` as `f32`, whose bits are compared here.
  Type bits = e.b.getI32Type();
  Value bitsX = e.bitcast(x, bits), bitsY = e.bitcast(y, bits);
  // Equal numbers differ in the sign of 0 at most.
  Value zero = e.bitcast(larger ? e.bitAnd(bitsX, bitsY) : e.bitOr(bitsX, bitsY), e.b.getF32Type());
  Value isEqual = e.cmpf(CmpFPredicate::OEQ, x, y), isNan = e.cmpf(CmpFPredicate::UNO, x, y);
  return e.select(isNan, e.add(x, y), e.select(isEqual, zero, extreme(a, larger, x, y)));
}

template <bool Larger> static Value emitExtremeNan(const Element &a) {
  const Emit &e = a.e;
  if (!a.real())
    return emitExtreme<Larger>(a);
  // LLVM takes the operation back to 16 bits, where it loses a NaN that meets 0.
  if (a.in.isF16())
    return emitExtremeNanBySelection(a, Larger);
  return Larger ? e.b.create<arith::MaximumFOp>(e.loc, a.x[0], a.x[1]).getResult()
                : e.b.create<arith::MinimumFOp>(e.loc, a.x[0], a.x[1]).getResult();
}
static Value emitClamp(const Element &a) {
  // The operand order lets a NaN in x through.
  Value low = extreme(a, true, a.x[1], a.x[0]);
  return extreme(a, false, a.x[2], low);
}

static Value emitAbs(const Element &a) {
  return a.real() || a.isSigned() ? a.e.abs(a.x[0]) : a.x[0];
}

static Value emitSign(const Element &a) {
  const Emit &e = a.e;
  if (a.real()) {
    Value one = e.copySign(e.real(a.shape(), 1.0), a.x[0]);
    // Zeros and NaN are their own sign.
    return e.select(e.cmpf(CmpFPredicate::ONE, a.x[0], 0.0), one, a.x[0]);
  }
  Value zero = e.zero(a.shape());
  Value positive = compareInt(a, CmpIPredicate::sgt, CmpIPredicate::ugt, a.x[0], zero);
  Value result = e.select(positive, e.integer(a.shape(), 1), zero);
  if (!a.isSigned())
    return result;
  Value negative = e.cmpi(CmpIPredicate::slt, a.x[0], 0);
  return e.select(negative, e.integer(a.shape(), -1), result);
}

// --- the rest ------------------------------------------------------------------------------------

template <typename Op> static Value emitUnaryOp(const Element &a) {
  return a.e.b.create<Op>(a.e.loc, a.x[0]);
}
template <Value (*Function)(const Emit &, Value)> static Value emitFunction(const Element &a) {
  return Function(a.e, a.x[0]);
}
// Whether an upper bound of `x`, elementwise or broadcast over it, is known of `bound`.
static bool isNotBelow(Value bound, Value x) {
  if (auto greatest = bound.getDefiningOp<ir::ReduceMaxOp>()) {
    // The reduced axes stay, with one position, so each element meets the maximum that it is part of.
    auto type = dyn_cast<ir::ArrayType>(bound.getType());
    return greatest->getOperand(0) == x &&
           (!type || type.getRank() == cast<ir::ArrayType>(x.getType()).getRank());
  }
  if (auto larger = bound.getDefiningOp<ir::MaxOp>())
    return llvm::any_of(larger->getOperands(),
                        [&](Value part) { return part == x || isNotBelow(part, x); });
  return false;
}

// Whether no element is above 0: of `x - max(x)`, as in a softmax, by running maxima, too.
static bool isUpTo0(Value value) {
  auto difference = value.getDefiningOp<ir::SubOp>();
  if (!difference)
    return false;
  Value x = difference.getOperand(0);
  auto type = dyn_cast<ir::ArrayType>(x.getType());
  // Elements of shorter types may be more precise here than where the maximum was found, and so exceed it.
  return (type ? type.getElementType() : x.getType()).isF32() &&
         isNotBelow(difference.getOperand(1), x);
}

static Value emitExponential(const Element &a) {
  return isUpTo0(a.op->getOperand(0)) ? emitExpUpTo1(a.e, a.x[0]) : emitExp(a.e, a.x[0]);
}
static Value emitIsInf(const Element &a) {
  return a.e.cmpf(CmpFPredicate::OEQ, a.e.abs(a.x[0]), std::numeric_limits<double>::infinity());
}
static Value emitIsFinite(const Element &a) {
  return a.e.cmpf(CmpFPredicate::ONE, a.e.abs(a.x[0]), std::numeric_limits<double>::infinity());
}

static Value emitConvert(const Element &a) {
  auto convert = cast<ir::ConvertOp>(a.op);
  auto rounding = parseRounding(convert.getRound()).value_or(Rounding::Even);
  return convertElem(a.e, a.x[0], a.in, a.out, rounding, convert.getSaturate());
}

static Value emitBitcast(const Element &a) {
  const Emit &e = a.e;
  Value stored = toStorage(e, a.x[0], a.in);
  // Some small floats are stored as integers already, so both sides meet as integers.
  Type bits = e.b.getIntegerType(scalarOf(stored.getType()).getIntOrFloatBitWidth());
  return fromStorage(e, e.bitcast(e.bitcast(stored, bits), storageType(a.out)), a.out);
}

static Value emitQuantize(const Element &a) {
  const Emit &e = a.e;
  Value scaled = e.divf(a.x[0], a.x[1]);
  if (isFloatElem(a.out)) {
    if (a.x.size() > 2)
      scaled = e.add(scaled, e.sitofp(a.x[2], scalarOf(scaled.getType())));
    return roundTo(e, saturateInfinity(e, scaled, a.out), a.out);
  }
  // The zero point is a whole number and added behind the rounding, so that it cannot change a tie.
  Value rounded = e.b.create<math::RoundEvenOp>(e.loc, scaled);
  if (a.x.size() > 2)
    rounded = e.add(rounded, e.sitofp(a.x[2], scalarOf(rounded.getType())));
  return convertElem(e, rounded, registerType(a.in), a.out, Rounding::Even, true);
}

static Value emitDequantize(const Element &a) {
  const Emit &e = a.e;
  Type real = registerType(a.out);
  Value number = a.x[0];
  if (isFloatElem(a.in)) {
    if (a.x.size() > 2)
      number = e.sub(number, e.sitofp(a.x[2], scalarOf(number.getType())));
    number = convertElem(e, number, registerType(a.in), real);
  } else if (a.x.size() > 2) {
    // The difference of two bytes does not fit a byte.
    Type i32 = e.b.getI32Type();
    number = e.sub(convertElem(e, number, a.in, i32), a.x[2]);
    number = convertElem(e, number, i32, real);
  } else {
    number = convertElem(e, number, a.in, real);
  }
  return e.mul(number, a.x[1]);
}

static const Row rows[] = {
    {"add", [](const Element &a) { return a.e.add(a.x[0], a.x[1]); }},
    {"sub", [](const Element &a) { return a.e.sub(a.x[0], a.x[1]); }},
    {"mul", [](const Element &a) { return a.e.mul(a.x[0], a.x[1]); }},
    {"div", emitDiv},
    {"rem", emitRem},
    {"pow", emitPower},
    {"cdiv", emitCdiv},
    {"neg", [](const Element &a) { return a.e.neg(a.x[0]); }},
    {"shl", emitShift<true>},
    {"shr", emitShift<false>},
    {"bit_and", [](const Element &a) { return a.e.bitAnd(a.x[0], a.x[1]); }},
    {"bit_or", [](const Element &a) { return a.e.bitOr(a.x[0], a.x[1]); }},
    {"bit_xor", [](const Element &a) { return a.e.bitXor(a.x[0], a.x[1]); }},
    {"and", [](const Element &a) { return a.e.bitAnd(a.x[0], a.x[1]); }},
    {"or", [](const Element &a) { return a.e.bitOr(a.x[0], a.x[1]); }},
    {"not", [](const Element &a) { return a.e.bitNot(a.x[0]); }},
    {"eq", emitCompare<CmpFPredicate::OEQ, CmpIPredicate::eq, CmpIPredicate::eq>},
    {"ne", emitCompare<CmpFPredicate::UNE, CmpIPredicate::ne, CmpIPredicate::ne>},
    {"lt", emitCompare<CmpFPredicate::OLT, CmpIPredicate::slt, CmpIPredicate::ult>},
    {"le", emitCompare<CmpFPredicate::OLE, CmpIPredicate::sle, CmpIPredicate::ule>},
    {"gt", emitCompare<CmpFPredicate::OGT, CmpIPredicate::sgt, CmpIPredicate::ugt>},
    {"ge", emitCompare<CmpFPredicate::OGE, CmpIPredicate::sge, CmpIPredicate::uge>},
    {"isnan", [](const Element &a) { return a.e.isNan(a.x[0]); }},
    {"isinf", emitIsInf},
    {"isfinite", emitIsFinite},
    {"select", [](const Element &a) { return a.e.select(a.x[0], a.x[1], a.x[2]); }},
    {"abs", emitAbs},
    {"sign", emitSign},
    {"floor", emitUnaryOp<math::FloorOp>},
    {"ceil", emitUnaryOp<math::CeilOp>},
    {"round", emitUnaryOp<math::RoundEvenOp>},
    {"trunc", emitUnaryOp<math::TruncOp>},
    {"exp", emitExponential},
    {"exp2", emitFunction<emitExp2>},
    {"expm1", emitFunction<emitExpm1>},
    {"log", emitFunction<emitLog>},
    {"log2", emitFunction<emitLog2>},
    {"log10", emitFunction<emitLog10>},
    {"log1p", emitFunction<emitLog1p>},
    {"sqrt", emitUnaryOp<math::SqrtOp>},
    {"rsqrt", emitFunction<emitRsqrt>},
    {"reciprocal", [](const Element &a) { return a.e.divf(a.e.real(a.shape(), 1.0), a.x[0]); }},
    {"sin", emitFunction<emitSin>},
    {"cos", emitFunction<emitCos>},
    {"tan", emitFunction<emitTan>},
    {"asin", emitFunction<emitAsin>},
    {"acos", emitFunction<emitAcos>},
    {"atan", emitFunction<emitAtan>},
    {"atan2", [](const Element &a) { return emitAtan2(a.e, a.x[0], a.x[1]); }},
    {"sinh", emitFunction<emitSinh>},
    {"cosh", emitFunction<emitCosh>},
    {"tanh", emitFunction<emitTanh>},
    {"asinh", emitFunction<emitAsinh>},
    {"acosh", emitFunction<emitAcosh>},
    {"atanh", emitFunction<emitAtanh>},
    {"erf", emitFunction<emitErf>},
    {"erfc", emitFunction<emitErfc>},
    {"sigmoid", emitFunction<emitSigmoid>},
    {"copysign", [](const Element &a) { return a.e.copySign(a.x[0], a.x[1]); }},
    {"max", emitExtreme<true>},
    {"min", emitExtreme<false>},
    {"maxnan", emitExtremeNan<true>},
    {"minnan", emitExtremeNan<false>},
    {"clamp", emitClamp},
    {"fma", [](const Element &a) { return a.e.fma(a.x[0], a.x[1], a.x[2]); }},
    {"convert", emitConvert},
    {"bitcast", emitBitcast},
    {"quantize", emitQuantize},
    {"dequantize", emitDequantize},
};

static const Row *rowOf(Operation *op) {
  if (op->getName().getDialectNamespace() != "ptl")
    return nullptr;
  static const llvm::StringMap<const Row *> table = [] {
    llvm::StringMap<const Row *> result;
    for (const Row &row : rows)
      result[row.name] = &row;
    return result;
  }();
  return table.lookup(op->getName().stripDialect());
}

bool isElementwise(Operation *op) { return rowOf(op) != nullptr; }

static Type elementOf(Value value) {
  if (auto array = dyn_cast<ir::ArrayType>(value.getType()))
    return array.getElementType();
  return value.getType();
}

int64_t costOfOp(Operation *op) {
  if (isa<ir::LoadOp, ir::SliceOp, ir::NewAxisOp, ir::CastOp, ir::ConstantOp>(op))
    return 0;
  // A conversion to the type that the operand has already costs nothing. Functions that are written for any type leave such conversions.
  if (auto convert = dyn_cast<ir::ConvertOp>(op);
      convert && elementOf(op->getOperand(0)) == elementOf(op->getResult(0)))
    return 0;
  const OpLowering *lowering = ir::loweringOf(op);
  return lowering ? lowering->cpuCost : 4;
}

Value emitElementwise(const Emit &e, Operation *op, ValueRange operands) {
  const Row *row = rowOf(op);
  int64_t lanes = 0;
  for (Value operand : operands)
    lanes = std::max(lanes, laneCount(operand.getType()));
  Values shaped;
  for (Value operand : operands) {
    // Rows expect operands of one shape, and uniform operands come as scalars.
    if (lanes && !isa<VectorType>(operand.getType()))
      operand = e.splat(operand, VectorType::get({lanes}, operand.getType()));
    shaped.push_back(operand);
  }
  Element element{e, op, shaped, elementOf(op->getOperand(0)), elementOf(op->getResult(0))};
  return row->emit(element);
}

} // namespace ptl::cpu
