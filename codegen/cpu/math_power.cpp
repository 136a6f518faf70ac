#include "codegen/cpu/math_approx.h"
#include "codegen/cpu/math_double.h"
#include "codegen/cpu/math_pieces.h"

#include <bit>
#include <cmath>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

// --- by tables in registers, for vectors of 16 floats ---------------------------------------------

namespace {
/// For each of 16 intervals of [kFirst, 2 * kFirst), a number by whose inverse the mantissa becomes one close to 1, and the logarithm of
/// that number in two parts. Of the interval around 1 they are 1 and 0, so that logarithms close to 0 lose nothing.
struct Mantissas {
  std::array<float, 16> inverse, high, low;
};
} // namespace

// The bits of the number with which the first interval begins, 0.699, and of the length of an interval.
static constexpr uint32_t kFirst = 0x3f330000, kIntervalShift = 19;

// Logarithms to the base 2^(1 / ofTwo), whose high parts have `fraction` bits behind the point, so that sums with an exponent are exact.
static Mantissas mantissas(double ofTwo, int fraction) {
  Mantissas table;
  for (uint32_t i = 0; i < 16; ++i) {
    double from = std::bit_cast<float>(kFirst + (i << kIntervalShift));
    double to = std::bit_cast<float>(kFirst + ((i + 1) << kIntervalShift));
    float inverse = from < 1 && to > 1 ? 1.0f : static_cast<float>(2 / (from + to));
    double log = -std::log2(static_cast<double>(inverse)) * ofTwo;
    double high = std::ldexp(std::nearbyint(std::ldexp(log, fraction)), -fraction);
    table.inverse[i] = inverse;
    table.high[i] = static_cast<float>(high);
    table.low[i] = static_cast<float>(log - high);
  }
  return table;
}

namespace {
/// x = 2^exponent * (1 + r + s) / inverse exactly, with |r| < 0.03 and |s| < 2^-24.
struct ReducedMantissa {
  Value exponent, interval, inverse, r, s;
  Value power; ///< the bits of 2^exponent, less those of 1
};
} // namespace

static ReducedMantissa reduceMantissa(const Emit &e, Value x, const Mantissas &table) {
  Value bits = e.bitcast(x, e.b.getI32Type());
  Value offset = e.sub(bits, e.integer(bits.getType(), kFirst));
  Value interval = e.shrUnsigned(offset, kIntervalShift);
  Value power = e.bitAnd(offset, -(int64_t(1) << 23));
  Value mantissa = e.bitcast(e.sub(bits, power), e.b.getF32Type());
  Value exponent = e.sitofp(shiftSigned(e, offset, 23), e.b.getF32Type());
  Value inverse = fromTable(e, x.getType(), table.inverse, interval);
  TwoParts scaled = productInParts(e, mantissa, inverse);
  Value r = e.sub(scaled.high, e.real(x.getType(), 1.0));
  return {exponent, interval, inverse, r, scaled.low, power};
}

// log2 of a positive, finite and normal `x`, to 2^-36 of itself.
static TwoParts log2InParts(const Emit &e, Value x) {
  static const Mantissas table = mantissas(1, 15);
  Type t = x.getType();
  auto real = [&](double value) { return e.real(t, value); };
  constexpr double log2EHigh = static_cast<float>(Log2E), log2ELow = Log2E - log2EHigh;
  auto [exponent, interval, inverse, r, s, power] = reduceMantissa(e, x, table);
  Value whole = e.add(exponent, fromTable(e, t, table.high, interval));
  // log2(1 + r) = r * log2(e) - r^2 * log2(e) / 2 + r^3 * P(r), of which only the last term needs no second part.
  TwoParts first = productInParts(e, r, real(log2EHigh)), square = productInParts(e, r, r);
  TwoParts second = productInParts(e, square.high, real(-log2EHigh / 2));
  Value rest =
      polynomial(e, r, {0.48089833266206, -0.36067371700553, 0.28872006155461, -0.24064721913934});
  TwoParts one = sumInParts(e, whole, first.high), two = sumInParts(e, one.high, second.high);
  Value low = e.fma(r, real(log2ELow), first.low);
  // The derivative of the logarithm times `s`.
  Value slope = e.fma(e.sub(square.high, r), real(log2EHigh), real(log2EHigh));
  low = e.fma(s, slope, low);
  Value low2 = e.fma(square.high, real(-log2ELow / 2), second.low);
  low2 = e.fma(square.low, real(-log2EHigh / 2), low2);
  Value lost = e.add(e.add(one.low, two.low), fromTable(e, t, table.low, interval));
  low = e.add(e.add(low, low2), lost);
  low = e.fma(e.mul(square.high, r), rest, low);
  return sumInParts(e, two.high, low);
}

// The logarithm of 2^-added * (x + lost) to the base 2^(1 / ofTwo), for a positive, finite and normal `x`, of which `lost` is less than
// half a unit in the last place; both may be null.
static Value logByTable(const Emit &e, Value x, double ofTwo, Value added, Value lost) {
  constexpr int fraction = 14;
  Type t = x.getType();
  const Mantissas table = mantissas(ofTwo, fraction);
  ReducedMantissa m = reduceMantissa(e, x, table);
  if (lost) {
    // What was lost is divided by the power of two, too. Beside the largest numbers, whose powers have no inverse, it is nothing.
    Value one = e.integer(m.power.getType(), 0x3f800000), zero = e.zero(m.power.getType());
    Value bits = e.b.create<arith::MaxSIOp>(e.loc, e.sub(one, m.power), zero);
    Value inversePower = e.bitcast(bits, e.b.getF32Type());
    m.s = e.fma(e.mul(lost, inversePower), m.inverse, m.s);
  }
  Value exponent = added ? e.sub(m.exponent, added) : m.exponent;
  // The exponent times the logarithm of 2 in two parts, of which the first is exact, as its sum with the table is.
  double twoHigh = std::ldexp(std::nearbyint(std::ldexp(ofTwo, fraction)), -fraction);
  Value whole = e.fma(exponent, e.real(t, twoHigh), fromTable(e, t, table.high, m.interval));
  Value low = fromTable(e, t, table.low, m.interval);
  if (ofTwo != twoHigh)
    low = e.fma(exponent, e.real(t, ofTwo - twoHigh), low);
  double slope = ofTwo * Log2E, slopeHigh = static_cast<float>(slope);
  low = e.fma(m.r, e.real(t, slope - slopeHigh), low);
  Value one = e.real(t, 1.0);
  low = e.fma(e.mul(m.s, e.sub(one, m.r)), e.real(t, slopeHigh), low);
  // log(1 + r) = r - r^2 / 2 + r^3 / 3 - …
  Value rest = polynomial(e, m.r, {-slope / 2, slope / 3, -slope / 4, slope / 5});
  low = e.fma(e.mul(m.r, m.r), rest, low);
  return e.add(e.fma(m.r, e.real(t, slopeHigh), whole), low);
}

Value emitLogByTable(const Emit &e, Value x, double ofTwo) {
  Type t = x.getType();
  // A subnormal number has no leading one to find its exponent by.
  Value subnormal = e.cmpf(CmpFPredicate::OLT, x, 0x1p-126);
  Value scaled = e.select(subnormal, e.mul(x, e.real(t, 0x1p23)), x);
  Value added = e.select(subnormal, e.real(t, 23.0), e.zero(t));
  return logEdges(e, x, logByTable(e, scaled, ofTwo, added, {}));
}

Value emitLog1pByTable(const Emit &e, Value x) {
  Type t = x.getType();
  Value one = e.real(t, 1.0), sum = e.add(x, one);
  // The larger of both is what the sum is compared with first.
  Value lost = e.select(e.cmpf(CmpFPredicate::OGE, x, 1.0), e.sub(one, e.sub(sum, x)),
                        e.sub(x, e.sub(sum, one)));
  Value result = logEdges(e, x, logByTable(e, sum, Ln2, {}, lost), -1.0);
  // The sums would turn -0 into 0, and products of subnormal numbers round.
  return e.select(e.cmpf(CmpFPredicate::OLT, e.abs(x), 0x1p-26), x, result);
}

// 2^x, where x.low is small beside x.high unless that is out of the range of results.
static Value exp2OfParts(const Emit &e, TwoParts x) {
  Type t = x.high.getType();
  Value within = clamp(e, x.high, -152.0, 129.0);
  // Where the exponent is out of range, its low part may be anything.
  Value low = e.select(e.cmpf(CmpFPredicate::OEQ, within, x.high), x.low, e.zero(t));
  Value shift = e.real(t, SixteenthShift), shifted = e.add(within, shift);
  Value sixteenths = e.sub(shifted, shift), bits = e.bitcast(shifted, e.b.getI32Type());
  Value rest = e.add(e.sub(within, sixteenths), low);
  Value tail = e.mul(rest, polynomial(e, rest, {Ln2, 0.2402335520327, 0.0555054108298}));
  Value power = fromTable(e, t, powersOfTwo(false), bits);
  Value lack = fromTable(e, t, powersOfTwo(true), bits);
  return scaleAtOnce(e, e.add(power, e.fma(power, tail, lack)), sixteenths);
}

// x^y for vectors all whose bases are positive and normal and all whose numbers are finite; false in a lane of `isUsual` elsewhere.
static Value usualPower(const Emit &e, Value x, Value y, Value &isUsual) {
  Value bits = e.bitcast(x, e.b.getI32Type());
  // One comparison of numbers without a sign finds both ends.
  isUsual = e.cmpi(CmpIPredicate::ult, e.sub(bits, e.integer(bits.getType(), 0x00800000)),
                   e.integer(bits.getType(), 0x7f000000));
  isUsual = e.bitAnd(isUsual, e.cmpf(CmpFPredicate::OLT, e.abs(y), Infinity));
  TwoParts log = log2InParts(e, x), exponent = productInParts(e, y, log.high);
  exponent.low = e.fma(y, log.low, exponent.low);
  return exp2OfParts(e, exponent);
}

// --- for all numbers ------------------------------------------------------------------------------

// |x|^y for numbers of `f32`.
static Value powOfMagnitude(const Emit &e, Value magnitude, Value y) {
  Type f64 = e.b.getF64Type();
  Value log = logWide(e, e.extf(magnitude, f64), Log2E);
  // `logWide` takes finite positive numbers only.
  log = e.select(e.cmpf(CmpFPredicate::OEQ, magnitude, 0.0), e.real(log.getType(), -Infinity), log);
  log = e.select(e.cmpf(CmpFPredicate::OEQ, magnitude, Infinity), e.real(log.getType(), Infinity),
                 log);
  // The limits are beyond the range of f32 and within that of `exp2Wide`.
  Value exponent = clamp(e, e.mul(log, e.extf(y, f64)), -300.0, 300.0);
  return e.truncf(exp2Wide(e, exponent), e.b.getF32Type());
}

static Value powOfAny(const Emit &e, Value x, Value y) {
  Type t = x.getType(), bits = isF64(x) ? e.b.getI64Type() : e.b.getI32Type();
  Value magnitude = e.abs(x);
  Value result = isF64(x) ? emitPowF64(e, magnitude, y) : powOfMagnitude(e, magnitude, y);
  // A negative base needs an integer exponent; an odd one keeps the sign.
  Value negative = e.cmpi(CmpIPredicate::slt, e.bitcast(x, bits), 0);
  Value whole = e.b.create<math::TruncOp>(e.loc, y);
  // Whether y is even shows in whether its half is whole.
  Value halfY = e.mul(y, e.real(t, 0.5));
  Value isWhole = e.cmpf(CmpFPredicate::OEQ, whole, y);
  Value isEven = e.cmpf(CmpFPredicate::OEQ, e.b.create<math::TruncOp>(e.loc, halfY), halfY);
  Value isOdd = e.bitAnd(isWhole, e.bitNot(isEven));
  Value signedResult = e.select(isOdd, e.neg(result), result);
  Value nonZero = e.cmpf(CmpFPredicate::ONE, x, 0.0);
  Value finite = e.cmpf(CmpFPredicate::ONE, magnitude, Infinity);
  // A negative finite number has no real power for an exponent that is not whole.
  Value noRoot = e.bitAnd(e.bitAnd(nonZero, finite), e.bitNot(isWhole));
  signedResult = e.select(noRoot, e.real(t, std::nan("")), signedResult);
  result = e.select(negative, signedResult, result);
  result = e.select(e.bitOr(e.isNan(x), e.isNan(y)), e.add(x, y), result);
  // x^0 and 1^y are 1 even with NaN; (-1)^inf is 1.
  Value one = e.bitOr(e.cmpf(CmpFPredicate::OEQ, y, 0.0), e.cmpf(CmpFPredicate::OEQ, x, 1.0));
  Value minusOne =
      e.bitAnd(e.cmpf(CmpFPredicate::OEQ, x, -1.0), e.cmpf(CmpFPredicate::OEQ, e.abs(y), Infinity));
  return e.select(e.bitOr(one, minusOne), e.real(t, 1.0), result);
}

Value emitPow(const Emit &e, Value x, Value y) {
  if (!hasTables(e, x))
    return powOfAny(e, x, y);
  Value isUsual, result = usualPower(e, x, y, isUsual);
  return unlessAny(e, e.bitNot(isUsual), result,
                   [&](const Emit &slow) { return powOfAny(slow, x, y); });
}

} // namespace ptl::cpu
