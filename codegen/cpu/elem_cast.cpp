#include "codegen/cpu/elem_cast.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

bool isUnsigned(Type logical) { return logical.isUnsignedInteger() || logical.isInteger(1); }
bool isFloatElem(Type logical) { return isa<FloatType>(logical); }

static bool isSmallFloat(Type logical) {
  auto type = dyn_cast<FloatType>(logical);
  return type && type.getWidth() < 32;
}

Type registerType(Type logical) {
  MLIRContext *context = logical.getContext();
  if (isSmallFloat(logical))
    return Float32Type::get(context);
  // Registers have no sign: `arith` wants integers without one.
  if (auto integer = dyn_cast<IntegerType>(logical))
    return IntegerType::get(context, integer.getWidth());
  return logical;
}

Type storageType(Type logical) {
  MLIRContext *context = logical.getContext();
  if (logical.isIndex())
    return IntegerType::get(context, 64);
  // A truth value takes a byte, as in NumPy.
  if (logical.isInteger(1))
    return IntegerType::get(context, 8);
  if (auto integer = dyn_cast<IntegerType>(logical))
    return IntegerType::get(context, integer.getWidth());
  // LLVM loads and stores f16; the other small floats are handled as bits, with conversions of our
  // own.
  if (isSmallFloat(logical) && !logical.isF16())
    return IntegerType::get(context, cast<FloatType>(logical).getWidth());
  return logical;
}

int64_t storageBytes(Type logical) { return storageType(logical).getIntOrFloatBitWidth() / 8; }

// --- f8 ------------------------------------------------------------------------------------------

namespace {
struct Float8Format {
  int mantissa; // stored bits of the fraction
  int bias;
  double largest; // largest finite value
  int64_t largestBits, nanBits;
  std::optional<int64_t> infinityBits = std::nullopt;
};
} // namespace

static Float8Format float8Format(Type logical) {
  if (isa<Float8E5M2Type>(logical))
    return {2, 15, 57344.0, 0x7b, 0x7f, 0x7c};
  return {3, 7, 448.0, 0x7e, 0x7f};
}

static bool isFloat8(Type logical) { return isa<Float8E4M3FNType, Float8E5M2Type>(logical); }

// f32 to the bits of an f8 in an i8: nearest even, saturating. Infinity stays where the type has it.
static Value encodeFloat8(const Emit &e, Value x, Type logical) {
  Float8Format f = float8Format(logical);
  Type i32 = e.b.getI32Type();
  // An f32 has 23 bits of fraction; what is dropped rounds to even by adding half less one, and the
  // last bit that stays.
  int drop = 23 - f.mantissa;
  Value magnitude = e.abs(x);
  Value bits = e.bitcast(magnitude, i32);
  Value odd = e.bitAnd(e.shrUnsigned(bits, drop), 1);
  Value rounded = e.add(e.add(bits, e.integer(bits.getType(), (1 << (drop - 1)) - 1)), odd);
  // A carry out of the fraction goes into the exponent, which is right.
  Value normal = e.sub(e.shrUnsigned(rounded, drop),
                       e.integer(bits.getType(), static_cast<int64_t>(127 - f.bias) << f.mantissa));
  // Below the normal numbers: adding a power of two rounds at the right place by itself.
  // The last bit of the power of two weighs as much as the least subnormal number, so the difference of the bits is the code.
  double shifter = std::ldexp(1.0, 23 - (f.bias - 1) - f.mantissa);
  Value shifterValue = e.real(x.getType(), shifter);
  Value subnormal =
      e.sub(e.bitcast(e.add(magnitude, shifterValue), i32), e.bitcast(shifterValue, i32));
  Value isSubnormal = e.cmpf(CmpFPredicate::OLT, magnitude, std::ldexp(1.0, 1 - f.bias));
  Value code = e.select(isSubnormal, subnormal, normal);
  Value tooLarge = e.cmpf(CmpFPredicate::OGE, magnitude, f.largest);
  code = e.select(tooLarge, e.integer(code.getType(), f.largestBits), code);
  if (f.infinityBits) {
    Value isInfinite = e.cmpf(CmpFPredicate::OEQ, magnitude, INFINITY);
    code = e.select(isInfinite, e.integer(code.getType(), *f.infinityBits), code);
  }
  // NaN comes last: the comparisons above are false for it, but its bits would give some number.
  code = e.select(e.isNan(x), e.integer(code.getType(), f.nanBits), code);
  Value sign = e.bitAnd(e.shrUnsigned(e.bitcast(x, i32), 24), 0x80);
  return e.trunci(e.bitOr(code, sign), e.b.getI8Type());
}

static Value decodeFloat8(const Emit &e, Value code, Type logical) {
  Float8Format f = float8Format(logical);
  Type i32 = e.b.getI32Type();
  Value bits = e.extui(code, i32);
  Value magnitude = e.bitAnd(bits, 0x7f);
  // The exponent field read as one of f32, then scaled: right for subnormal numbers too.
  Value small = e.bitcast(e.shl(magnitude, 23 - f.mantissa), e.b.getF32Type());
  Value value = e.mul(small, e.real(small.getType(), std::ldexp(1.0, 127 - f.bias)));
  Type t = value.getType();
  // The codes of infinity and NaN would read as large numbers. E4M3FN has one code for NaN.
  if (f.infinityBits)
    value =
        e.select(e.cmpi(CmpIPredicate::eq, magnitude, *f.infinityBits), e.real(t, INFINITY), value);
  int64_t lastNumber = f.infinityBits.value_or(f.largestBits);
  value = e.select(e.cmpi(CmpIPredicate::sgt, magnitude, lastNumber), e.real(t, NAN), value);
  Value sign = e.shl(e.bitAnd(bits, 0x80), 24);
  return e.bitcast(e.bitOr(e.bitcast(value, i32), sign), e.b.getF32Type());
}

// --- bf16 ----------------------------------------------------------------------------------------

static Value encodeBfloat(const Emit &e, Value x) {
  Value bits = e.bitcast(x, e.b.getI32Type());
  Value odd = e.bitAnd(e.shrUnsigned(bits, 16), 1);
  Value rounded = e.add(e.add(bits, e.integer(bits.getType(), 0x7fff)), odd);
  // Rounding could carry the bits of a NaN into the exponent and make an infinity of it.
  Value quiet = e.bitOr(bits, e.integer(bits.getType(), 0x400000));
  Value chosen = e.select(e.isNan(x), quiet, rounded);
  return e.trunci(e.shrUnsigned(chosen, 16), e.b.getIntegerType(16));
}

static Value decodeBfloat(const Emit &e, Value stored) {
  return e.bitcast(e.shl(e.extui(stored, e.b.getI32Type()), 16), e.b.getF32Type());
}

Value fromStorage(const Emit &e, Value stored, Type logical) {
  if (isFloat8(logical))
    return decodeFloat8(e, stored, logical);
  if (logical.isBF16())
    return decodeBfloat(e, stored);
  if (logical.isF16())
    return e.extf(stored, e.b.getF32Type());
  if (logical.isInteger(1))
    return e.cmpi(CmpIPredicate::ne, stored, 0);
  if (logical.isIndex())
    return e.indexCast(stored, logical);
  return stored;
}

Value toStorage(const Emit &e, Value value, Type logical) {
  if (isFloat8(logical))
    return encodeFloat8(e, value, logical);
  if (logical.isBF16())
    return encodeBfloat(e, value);
  if (logical.isF16())
    return e.truncf(value, logical);
  if (logical.isInteger(1))
    return e.extui(value, e.b.getI8Type());
  if (logical.isIndex())
    return e.indexCast(value, e.b.getI64Type());
  return value;
}

Value roundTo(const Emit &e, Value value, Type logical) {
  return isSmallFloat(logical) ? fromStorage(e, toStorage(e, value, logical), logical) : value;
}

// --- conversions ---------------------------------------------------------------------------------

Value saturateInfinity(const Emit &e, Value value, Type to) {
  if (!isFloat8(to))
    return value;
  Value limit = e.copySign(e.real(value.getType(), float8Format(to).largest), value);
  return e.select(e.cmpf(CmpFPredicate::OEQ, e.abs(value), INFINITY), limit, value);
}

std::optional<Rounding> parseRounding(StringRef name) {
  return llvm::StringSwitch<std::optional<Rounding>>(name)
      .Case("even", Rounding::Even)
      .Cases("zero", "trunc", Rounding::Zero)
      .Cases("down", "floor", Rounding::Down)
      .Cases("up", "ceil", Rounding::Up)
      .Case("away", Rounding::Away)
      .Default(std::nullopt);
}

// f64 to f32 with the last bit sticky ("round to odd"): a later rounding to fewer bits is then
// right.
static Value narrowToOdd(const Emit &e, Value x) {
  Type i32 = e.b.getI32Type();
  Value nearest = e.truncf(x, e.b.getF32Type());
  Value back = e.extf(nearest, e.b.getF64Type());
  Value bits = e.bitcast(nearest, i32);
  // Where the nearest f32 is above in magnitude, the bits of the one below are one less.
  Value above = e.cmpf(CmpFPredicate::OGT, e.abs(back), e.abs(x));
  Value down = e.sub(bits, e.extui(above, i32));
  Value sticky = e.bitOr(down, e.integer(bits.getType(), 1));
  Value inexact = e.cmpf(CmpFPredicate::ONE, back, x);
  return e.bitcast(e.select(inexact, sticky, bits), e.b.getF32Type());
}

namespace {
/// A number that was rounded to nearest, ties to even, as its bits, and how it differs from what it
/// was rounded from. `value` is what the bits mean, `rest` how much larger the exact magnitude is.
struct Nearest {
  Value bits, value, rest, isNegative;
  Type logical;
};
} // namespace

/// The bits of the neighbour that another rounding chooses. Magnitudes are in the order of their
/// bits, so that a neighbour is one more or one less, also between 0, subnormal, normal and infinite
/// numbers.
static Value turned(const Emit &e, const Nearest &at, Rounding rounding,
                    llvm::function_ref<Value(Value)> valueOf) {
  // Comparisons with NaN are false, so that NaN stays.
  Value isLess = e.cmpf(CmpFPredicate::OGT, at.rest, 0.0),
        isMore = e.cmpf(CmpFPredicate::OLT, at.rest, 0.0);
  Value isPositive = e.bitNot(at.isNegative);
  // The exact magnitude lies beyond the nearest number, or before it; which neighbour is right
  // depends on the sign.
  Value outwards = isLess, inwards = isMore;
  Type shape = at.bits.getType();
  switch (rounding) {
  case Rounding::Even:
    return at.bits;
  case Rounding::Zero:
    return e.sub(at.bits, e.extui(inwards, scalarOf(shape)));
  case Rounding::Down:
    outwards = e.bitAnd(isLess, at.isNegative);
    inwards = e.bitAnd(isMore, isPositive);
    break;
  case Rounding::Up:
    outwards = e.bitAnd(isLess, isPositive);
    inwards = e.bitAnd(isMore, at.isNegative);
    break;
  case Rounding::Away: {
    // A tie is as far from the one neighbour as from the other; both distances are exact.
    Value next = e.abs(valueOf(e.add(at.bits, e.integer(shape, 1))));
    Value beyond = e.sub(e.sub(next, e.abs(at.value)), at.rest);
    outwards = e.bitAnd(isLess, e.cmpf(CmpFPredicate::OEQ, beyond, at.rest));
    return e.add(at.bits, e.extui(outwards, scalarOf(shape)));
  }
  }
  // Beyond the largest number of a type without infinity there is no neighbour.
  if (isFloat8(at.logical))
    outwards = e.bitAnd(outwards, e.cmpi(CmpIPredicate::ne, e.bitAnd(at.bits, 0x7f),
                                         float8Format(at.logical).largestBits));
  return e.sub(e.add(at.bits, e.extui(outwards, scalarOf(shape))),
               e.extui(inwards, scalarOf(shape)));
}

/// Of `x`, an f64 for an f32 and an f32 for shorter floats.
static Value roundInDirection(const Emit &e, Value x, Type to, Rounding rounding) {
  Type wide = scalarOf(x.getType());
  Value stored = to.isF32() ? e.truncf(x, to) : toStorage(e, x, to);
  Type held = scalarOf(stored.getType()),
       code = IntegerType::get(e.b.getContext(), to.getIntOrFloatBitWidth());
  auto valueOf = [&](Value bits) {
    Value number = e.bitcast(bits, held);
    return to.isF32() ? e.extf(number, wide) : fromStorage(e, number, to);
  };
  Value bits = held == code ? stored : e.bitcast(stored, code);
  Value nearest = valueOf(bits);
  // The difference of infinite numbers is NaN, for which no comparison holds, so they stay as NaN does.
  Value rest = e.sub(e.abs(x), e.abs(nearest));
  Nearest at{bits, nearest, rest, e.cmpf(CmpFPredicate::OLT, x, 0.0), to};
  Value chosen = valueOf(turned(e, at, rounding, valueOf));
  return to.isF32() ? e.truncf(chosen, to) : chosen;
}

static Value floatToFloat(const Emit &e, Value value, Type to, Rounding rounding) {
  Type from = scalarOf(value.getType());
  if (to.isF64())
    return from.isF64() ? value : e.extf(value, to);
  if (from.isF64() && to.isF32())
    return rounding == Rounding::Even ? e.truncf(value, to)
                                      : roundInDirection(e, value, to, rounding);
  if (from.isF64())
    // Two roundings to nearest, first to f32, could end one step beside the right result.
    value = narrowToOdd(e, value);
  value = saturateInfinity(e, value, to);
  return rounding == Rounding::Even || to.isF32() ? roundTo(e, value, to)
                                                  : roundInDirection(e, value, to, rounding);
}

static Value roundToInteger(const Emit &e, Value x, Rounding rounding) {
  switch (rounding) {
  case Rounding::Even:
    return e.b.create<math::RoundEvenOp>(e.loc, x);
  case Rounding::Zero:
    return e.b.create<math::TruncOp>(e.loc, x);
  case Rounding::Down:
    return e.b.create<math::FloorOp>(e.loc, x);
  case Rounding::Up:
    return e.b.create<math::CeilOp>(e.loc, x);
  case Rounding::Away: {
    // The largest number below one half: adding one half itself would round up what is just below.
    double half = scalarOf(x.getType()).isF64() ? 0x1.fffffffffffffp-2 : 0x1.fffffep-2;
    Value sum = e.add(x, e.copySign(e.real(x.getType(), half), x));
    return e.b.create<math::TruncOp>(e.loc, sum);
  }
  }
  llvm_unreachable("unknown rounding");
}

// The limits are powers of two (2^63 for i64), exact in every float type.
static Value floatToInteger(const Emit &e, Value x, Type to, Rounding rounding) {
  bool index = to.isIndex();
  unsigned width = index ? 64 : to.getIntOrFloatBitWidth();
  bool isSigned = !isUnsigned(to);
  Type target = IntegerType::get(e.b.getContext(), width);
  x = roundToInteger(e, x, rounding);
  double limit = std::ldexp(1.0, isSigned ? width - 1 : width);
  double floor = isSigned ? -limit : 0.0;
  // Converting what does not fit is poison in LLVM, so out-of-range values and NaN become 0 before
  // it, and the limits are put in after it. A NaN stays 0.
  Value low = e.cmpf(CmpFPredicate::OLT, x, floor);
  Value high = e.cmpf(CmpFPredicate::OGE, x, limit);
  Value legal =
      e.bitAnd(e.cmpf(CmpFPredicate::OGE, x, floor), e.cmpf(CmpFPredicate::OLT, x, limit));
  Value safe = e.select(legal, x, e.real(x.getType(), 0.0));
  // All integers below 32 bits fit a signed i32, whose conversion is one instruction.
  Type wide = width < 32 ? Type(e.b.getI32Type()) : target;
  Value converted;
  if (isSigned || width < 32)
    converted = e.fptosi(safe, wide);
  else
    converted = e.b.create<arith::FPToUIOp>(e.loc, withShapeOf(x.getType(), wide), safe);
  if (wide != target)
    converted = e.trunci(converted, target);
  APInt top = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  APInt bottom = isSigned ? APInt::getSignedMinValue(width) : APInt::getMinValue(width);
  Type shape = converted.getType();
  converted = e.select(high, e.integer(shape, top.getSExtValue()), converted);
  converted = e.select(low, e.integer(shape, bottom.getSExtValue()), converted);
  return index ? e.indexCast(converted, to) : converted;
}

/// 64 bits as the nearest f64, and what that lacks, which is an f64, too.
static std::pair<Value, Value> inTwoParts(const Emit &e, Value x, bool fromUnsigned) {
  Type f64 = withShapeOf(x.getType(), e.b.getF64Type());
  Value shift = e.integer(x.getType(), 32), top;
  if (fromUnsigned)
    top = e.b.create<arith::UIToFPOp>(e.loc, f64, e.shrUnsigned(x, 32));
  else
    top = e.b.create<arith::SIToFPOp>(e.loc, f64, e.b.create<arith::ShRSIOp>(e.loc, x, shift));
  // Both halves are exact; the upper one is 0 or the larger, so the error of their sum is exact.
  Value high = e.mul(top, e.real(f64, 0x1p32));
  Value low = e.b.create<arith::UIToFPOp>(e.loc, f64, e.bitAnd(x, 0xffffffff));
  Value sum = e.add(high, low);
  return {sum, e.sub(low, e.sub(sum, high))};
}

/// 64 bits as an f64: rounded in a direction, or with a sticky last bit for a later rounding.
static Value longToDouble(const Emit &e, Value x, bool fromUnsigned,
                          std::optional<Rounding> rounding) {
  auto [sum, error] = inTwoParts(e, x, fromUnsigned);
  Type i64 = e.b.getI64Type();
  Value isNegative = e.cmpf(CmpFPredicate::OLT, sum, 0.0), bits = e.bitcast(sum, i64);
  Value rest = e.select(isNegative, e.neg(error), error);
  auto valueOf = [&](Value code) { return e.bitcast(code, e.b.getF64Type()); };
  if (rounding)
    return valueOf(turned(e, {bits, sum, rest, isNegative, e.b.getF64Type()}, *rounding, valueOf));
  Value isMore = e.cmpf(CmpFPredicate::OLT, rest, 0.0),
        isInexact = e.cmpf(CmpFPredicate::ONE, rest, 0.0);
  return valueOf(e.bitOr(e.sub(bits, e.extui(isMore, i64)), e.extui(isInexact, i64)));
}

static Value integerToFloat(const Emit &e, Value x, Type from, Type to, Rounding rounding) {
  if (from.isIndex())
    x = e.indexCast(x, e.b.getI64Type());
  unsigned width = scalarOf(x.getType()).getIntOrFloatBitWidth();
  bool isNearest = rounding == Rounding::Even;
  if (width == 64 && to.isF64() && !isNearest)
    return longToDouble(e, x, isUnsigned(from), rounding);
  if (width == 64 && !to.isF64() && !(to.isF32() && isNearest))
    return floatToFloat(e, longToDouble(e, x, isUnsigned(from), std::nullopt), to, rounding);
  // f64 holds the narrower integers exactly, so that there is one rounding.
  bool viaWide = width >= 32 && !(to.isF32() && isNearest);
  Type middle = viaWide || to.isF64() ? Type(e.b.getF64Type()) : Type(e.b.getF32Type());
  Type shape = withShapeOf(x.getType(), middle);
  Value value = isUnsigned(from) ? e.b.create<arith::UIToFPOp>(e.loc, shape, x).getResult()
                                 : e.b.create<arith::SIToFPOp>(e.loc, shape, x).getResult();
  return floatToFloat(e, value, to, rounding);
}

static Value saturateInteger(const Emit &e, Value x, Type from, Type to) {
  unsigned width =
      scalarOf(x.getType()).isIndex() ? 64 : scalarOf(x.getType()).getIntOrFloatBitWidth();
  unsigned target = to.isIndex() ? 64 : to.getIntOrFloatBitWidth();
  bool fromUnsigned = isUnsigned(from), toUnsigned = isUnsigned(to);
  Type t = x.getType();
  // Limits of the target that the source can exceed.
  if (!fromUnsigned && toUnsigned)
    x = e.select(e.cmpi(CmpIPredicate::slt, x, 0), e.zero(t), x);
  else if (!fromUnsigned && target < width) {
    int64_t low = APInt::getSignedMinValue(target).getSExtValue();
    x = e.select(e.cmpi(CmpIPredicate::slt, x, low), e.integer(t, low), x);
  }
  // Only a target with fewer bits for magnitudes can be too small at the upper end.
  unsigned sourceBits = fromUnsigned ? width : width - 1;
  unsigned targetBits = toUnsigned ? target : target - 1;
  if (targetBits < sourceBits) {
    // A shift by 63 would leave the range of the type in which the limit is computed.
    int64_t high = targetBits >= 63 ? INT64_MAX : (int64_t(1) << targetBits) - 1;
    auto predicate = fromUnsigned ? CmpIPredicate::ugt : CmpIPredicate::sgt;
    x = e.select(e.cmpi(predicate, x, high), e.integer(t, high), x);
  }
  return x;
}

static Value integerToInteger(const Emit &e, Value x, Type from, Type to, bool saturate) {
  if (saturate)
    x = saturateInteger(e, x, from, to);
  if (from.isIndex())
    x = e.indexCast(x, e.b.getI64Type());
  Type target = to.isIndex() ? Type(e.b.getI64Type()) : registerType(to);
  unsigned width = scalarOf(x.getType()).getIntOrFloatBitWidth();
  unsigned targetWidth = target.getIntOrFloatBitWidth();
  if (targetWidth < width)
    x = e.trunci(x, target);
  else if (targetWidth > width)
    x = isUnsigned(from)
            ? e.extui(x, target)
            : e.b.createOrFold<arith::ExtSIOp>(e.loc, withShapeOf(x.getType(), target), x);
  return to.isIndex() ? e.indexCast(x, to) : x;
}

Value convertElem(const Emit &e, Value value, Type from, Type to, Rounding rounding,
                  bool saturate) {
  // A value that was computed in a register may have more digits than its type.
  if (from == to)
    return roundTo(e, value, to);
  if (to.isInteger(1)) {
    if (isFloatElem(from))
      return e.cmpf(CmpFPredicate::UNE, value, 0.0);
    return e.cmpi(CmpIPredicate::ne, value, 0);
  }
  if (isFloatElem(from))
    return isFloatElem(to) ? floatToFloat(e, value, to, rounding)
                           : floatToInteger(e, value, to, rounding);
  if (isFloatElem(to))
    return integerToFloat(e, value, from, to, rounding);
  return integerToInteger(e, value, from, to, saturate);
}

} // namespace ptl::cpu
