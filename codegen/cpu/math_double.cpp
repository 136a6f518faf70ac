#include "codegen/cpu/math_double.h"

#include "codegen/cpu/math_pieces.h"

#include <cmath>

using namespace mlir;
using arith::CmpFPredicate;

namespace ptl::cpu {

// ln 2 in two parts; the first has 42 bits, so that its product with an exponent is exact.
static constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;

// --- exponentials --------------------------------------------------------------------------------

namespace {
/// exp(x) = 2^n * (1 + tail), with n a whole number and |tail| < 0.42.
struct ReducedDouble {
  Value n; ///< as an integer
  Value tail;
};
} // namespace

// x + x^2 * P(x) is exp(x) - 1 for |x| < 0.3467; what the polynomial is off by weighs an eighth of a unit in the last place.
static constexpr double kExpTail[] = {
    0.5000000000000001,     0.16666666666666669,   0.04166666666662399,   0.008333333333330051,
    0.0013888888917281794,  0.0001984126986310597, 2.480152119021773e-05, 2.7557268378684192e-06,
    2.7620138719733994e-07, 2.5100424157005067e-08};

static ReducedDouble reduce(const Emit &e, Value x) {
  Rounded n = roundToInteger(e, x, Log2E);
  Value r = e.fma(n.value, e.real(x.getType(), -kLn2High), x);
  r = e.fma(n.value, e.real(x.getType(), -kLn2Low), r);
  return {n.bits, tailInPairs(e, r, e.mul(r, r), kExpTail)};
}

// 2^n * (1 + tail), in two steps, so that subnormal results round once and 2^1024 does not overflow.
static Value scale(const Emit &e, Value n, Value tail) {
  Value half = shiftSigned(e, n, 1);
  Value first = powerOfTwo(e, half), second = powerOfTwo(e, e.sub(n, half));
  return e.mul(e.fma(tail, first, first), second);
}

Value emitExpF64(const Emit &e, Value x) {
  // Beyond these limits the result is 0 or infinity.
  ReducedDouble reduced = reduce(e, clamp(e, x, -746.0, 710.0));
  return scale(e, reduced.n, reduced.tail);
}

Value emitHalfExpF64(const Emit &e, Value x) {
  ReducedDouble reduced = reduce(e, clamp(e, x, -746.0, 711.0));
  return scale(e, e.sub(reduced.n, e.integer(reduced.n.getType(), 1)), reduced.tail);
}

Value emitExp2F64(const Emit &e, Value x) {
  x = clamp(e, x, -1076.0, 1025.0);
  Rounded n = roundToInteger(e, x, 1.0);
  Value r = e.sub(x, n.value);
  // The product with ln 2 in two parts.
  Value ln2 = e.real(x.getType(), Ln2);
  Value high = e.mul(r, ln2);
  Value low = e.fma(r, e.real(x.getType(), 2.3190468138462996e-17), e.fma(r, ln2, e.neg(high)));
  Value tail = e.add(tailInPairs(e, high, e.mul(high, high), kExpTail), low);
  return scale(e, n.bits, tail);
}

Value emitExpm1F64(const Emit &e, Value x) {
  ReducedDouble reduced = reduce(e, clamp(e, x, -40.0, 710.0));
  // 2^n - 1 + 2^n * tail, half of it, since 2^1024 is no number.
  Value half = powerOfTwo(e, e.sub(reduced.n, e.integer(reduced.n.getType(), 1)));
  Value result = e.fma(half, reduced.tail, e.sub(half, e.real(x.getType(), 0.5)));
  result = e.add(result, result);
  // The sums would turn -0 into 0.
  return e.select(e.cmpf(CmpFPredicate::OEQ, x, 0.0), x, result);
}

// --- logarithms ----------------------------------------------------------------------------------

namespace {
/// x = 2^n * (1 + f), with 1 + f in [sqrt(1/2), sqrt(2)).
struct Mantissa {
  Value n, f;
};

/// log(x) = n * ln 2 + (f - rest), with f = m - 1 for x = 2^n * m and m around 1.
struct ReducedLog {
  Value n, f;
  /// rest = half - product, where half = f^2 / 2.
  Value half, product;
};
} // namespace

// Of a positive, finite `x`, which may be subnormal.
static Mantissa mantissaOf(const Emit &e, Value x) {
  Type t = x.getType(), i64 = e.b.getI64Type(), f64 = e.b.getF64Type();
  Value subnormal = e.cmpf(CmpFPredicate::OLT, x, 0x1p-1022);
  Value scaled = e.select(subnormal, e.mul(x, e.real(t, 0x1p54)), x);
  // Subtracting the bits of sqrt(1/2) carries into the exponent.
  Value bits = e.bitcast(scaled, i64);
  Value exponent = shiftSigned(e, e.sub(bits, e.integer(bits.getType(), 0x3fe6a09e667f3bcd)), 52);
  Value mantissa = e.bitcast(e.sub(bits, e.shl(exponent, 52)), f64);
  Value n = e.sitofp(exponent, f64);
  n = e.select(subnormal, e.sub(n, e.real(t, 54.0)), n);
  return {n, e.sub(mantissa, e.real(t, 1.0))};
}

static ReducedLog reduceLog(const Emit &e, Value x) {
  Type t = x.getType();
  auto [n, f] = mantissaOf(e, x);
  // log(1 + f) = 2 * atanh(s) = f - (f^2 / 2 - s * (f^2 / 2 + s^2 * P(s^2))): what rounding does to s weighs little.
  Value s = e.divf(f, e.add(f, e.real(t, 2.0)));
  Value z = e.mul(s, s);
  Value half = e.mul(e.mul(f, f), e.real(t, 0.5));
  Value series = polynomial(e, z,
                            {0.6666666666666666, 0.40000000000000885, 0.28571428570799784,
                             0.22222222392581045, 0.18181795547521137, 0.15386244737621665,
                             0.13268638369266825, 0.13088034850927555});
  return {n, f, half, e.mul(s, e.fma(z, series, half))};
}

// The logarithm plus `correction`, which is small.
static Value sumLog(const Emit &e, const ReducedLog &log, Value correction) {
  Type t = log.f.getType();
  Value low = e.fma(log.n, e.real(t, kLn2Low), log.product);
  if (correction)
    low = e.add(low, correction);
  Value rest = e.sub(e.sub(log.half, low), log.f);
  return e.fma(log.n, e.real(t, kLn2High), e.neg(rest));
}

Value emitLogF64(const Emit &e, Value x) { return logEdges(e, x, sumLog(e, reduceLog(e, x), {})); }

// The logarithm of the mantissa in two parts, so that only its product with the scale of another base rounds.
static TwoParts logOfMantissa(const Emit &e, const ReducedLog &log) {
  Value rest = e.sub(log.half, log.product), high = e.sub(log.f, rest);
  return {high, e.sub(e.sub(log.f, high), rest)};
}

Value emitLog2F64(const Emit &e, Value x) {
  ReducedLog log = reduceLog(e, x);
  Type t = x.getType();
  auto [high, low] = logOfMantissa(e, log);
  Value scale = e.real(t, Log2E);
  low = e.fma(low, scale, e.mul(high, e.real(t, 2.0355273740931033e-17)));
  return logEdges(e, x, e.add(log.n, e.fma(high, scale, low)));
}

Value emitLog10F64(const Emit &e, Value x) {
  ReducedLog log = reduceLog(e, x);
  Type t = x.getType();
  auto [high, low] = logOfMantissa(e, log);
  // log10(2) in two parts, of which the first has 42 bits, and log10(e).
  Value whole = e.mul(log.n, e.real(t, 0x1.34413509f7800p-2));
  Value scale = e.real(t, 0x1.bcb7b1526e50ep-2);
  TwoParts fraction = productInParts(e, high, scale), all = sumInParts(e, whole, fraction.high);
  low = e.fma(low, scale, e.fma(high, e.real(t, 0x1.95355baaafad3p-57), fraction.low));
  low = e.fma(log.n, e.real(t, 0x1.fef311f12b358p-46), low);
  return logEdges(e, x, e.add(all.high, e.add(all.low, low)));
}

Value emitLog1pF64(const Emit &e, Value x) {
  Type t = x.getType();
  Value one = e.real(t, 1.0), sum = e.add(x, one);
  // What the sum lost, relative to it.
  Value lost = e.select(e.cmpf(CmpFPredicate::OGE, x, 1.0), e.sub(one, e.sub(sum, x)),
                        e.sub(x, e.sub(sum, one)));
  Value result = sumLog(e, reduceLog(e, sum), e.divf(lost, sum));
  result = logEdges(e, x, result, -1.0);
  return e.select(e.cmpf(CmpFPredicate::OLT, e.abs(x), 0x1p-54), x, result);
}

// --- power ---------------------------------------------------------------------------------------

// log2 of a positive, finite `x` to 2^-63.
static TwoParts preciseLog2(const Emit &e, Value x) {
  Type t = x.getType();
  auto constant = [&](double high, double low) {
    return TwoParts{e.real(t, high), e.real(t, low)};
  };
  auto [n, f] = mantissaOf(e, x);
  // log(1 + f) / 2 = s * (1 + z / 3 + z^2 * P(z)) with s = f / (2 + f) and z = s^2, of which all but the last term are in two parts.
  TwoParts below = sumInParts(e, e.real(t, 2.0), f);
  Value inverse = e.divf(e.real(t, 1.0), below.high), quotient = e.mul(f, inverse);
  Value left = e.fma(e.neg(quotient), below.high, f);
  left = e.fma(e.neg(quotient), below.low, left);
  TwoParts s = {quotient, e.mul(left, inverse)};
  TwoParts z = productInParts(e, s, s);
  Value series = polynomial(e, z.high,
                            {1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                             1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25});
  TwoParts third = productInParts(e, z, constant(0x1.5555555555555p-2, 0x1.5555555555555p-56));
  third = sumInParts(e, third.high, e.fma(e.mul(z.high, z.high), series, third.low));
  TwoParts more = productInParts(e, s, third);
  TwoParts half = sumInParts(e, s.high, more.high);
  half.low = e.add(half.low, e.add(more.low, s.low));
  TwoParts fraction =
      productInParts(e, half, constant(0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55));
  TwoParts whole = sumInParts(e, n, fraction.high);
  return {whole.high, e.add(whole.low, fraction.low)};
}

Value emitPowF64(const Emit &e, Value magnitude, Value y) {
  Type t = magnitude.getType();
  TwoParts log = preciseLog2(e, magnitude);
  Value isZero = e.cmpf(CmpFPredicate::OEQ, magnitude, 0.0);
  Value isInfinite = e.cmpf(CmpFPredicate::OEQ, magnitude, Infinity);
  Value infinity = e.real(t, Infinity);
  log.high = e.select(isZero, e.neg(infinity), e.select(isInfinite, infinity, log.high));
  // Such a factor takes every other logarithm out of the range of results, and makes no infinities of it.
  y = clamp(e, y, -0x1p64, 0x1p64);
  TwoParts exponent = productInParts(e, y, log.high);
  Value low = e.fma(y, log.low, exponent.low);
  Value high = clamp(e, exponent.high, -1080.0, 1030.0);
  Rounded n = roundToInteger(e, high, 1.0);
  // Where the exponent is out of range, its low part is none or no number.
  Value inRange = e.cmpf(CmpFPredicate::OEQ, high, exponent.high);
  low = e.select(inRange, low, e.zero(t));
  TwoParts r = sumInParts(e, e.sub(high, n.value), low);
  TwoParts rest = productInParts(e, r.high, e.real(t, Ln2));
  low = e.fma(r.high, e.real(t, 2.3190468138462996e-17), e.fma(r.low, e.real(t, Ln2), rest.low));
  Value tail = e.add(tailInPairs(e, rest.high, e.mul(rest.high, rest.high), kExpTail), low);
  return scale(e, n.bits, tail);
}

// --- trigonometry --------------------------------------------------------------------------------

namespace {
/// Of x less the nearest number of quarter turns; `turns` is this number.
struct SineAndCosine {
  Value turns, sine, cosine;
};
} // namespace

// Valid for |x| < 2^25.
static SineAndCosine sineAndCosine(const Emit &e, Value x) {
  Type t = x.getType();
  Rounded n = roundToInteger(e, x, 0.636619772367581343075535053490057448);
  // pi/2 in three parts. The first difference is exact; what the second one and its product lose is kept in `low`.
  Value first = e.fma(n.value, e.real(t, -0x1.921fb54442d18p+0), x);
  Value part = e.real(t, 0x1.1a62633145c07p-54), product = e.mul(n.value, part);
  Value high = e.sub(first, product), back = e.sub(high, first);
  Value low = e.sub(e.sub(first, e.sub(high, back)), e.add(product, back));
  low = e.sub(low, e.fma(n.value, part, e.neg(product)));
  low = e.fma(n.value, e.real(t, 0x1.f1976b7ed8fbcp-110), low);
  Value z = e.mul(high, high), halfZ = e.mul(z, e.real(t, 0.5)), one = e.real(t, 1.0);
  Value sine = polynomial(e, z,
                          {-0.16666666666666666, 0.008333333333333331, -0.0001984126984126506,
                           2.7557319219335453e-06, -2.5052106231157904e-08, 1.605853141458901e-10,
                           -7.586685070091267e-13});
  Value slope = e.sub(one, halfZ);
  sine = e.add(high, e.fma(e.mul(high, z), sine, e.mul(low, slope)));
  Value cosine = polynomial(e, z,
                            {0.041666666666666664, -0.0013888888888888887, 2.4801587301584645e-05,
                             -2.755731922140076e-07, 2.0876755790363397e-09,
                             -1.1470460773969325e-11, 4.7458652037874553e-14});
  Value lost = e.sub(e.sub(one, slope), halfZ);
  cosine = e.fma(e.mul(z, z), cosine, e.fma(e.neg(high), low, lost));
  return {n.bits, sine, e.add(slope, cosine)};
}

static Value isOdd(const Emit &e, Value number) {
  return e.cmpi(arith::CmpIPredicate::ne, e.bitAnd(number, 1), 0);
}

Value emitSineF64(const Emit &e, Value x, int64_t quarterTurns) {
  SineAndCosine rest = sineAndCosine(e, x);
  // Odd quadrants swap sine and cosine, and the upper two of four negate.
  Value quadrant = e.add(rest.turns, e.integer(rest.turns.getType(), quarterTurns));
  Value value = e.select(isOdd(e, quadrant), rest.cosine, rest.sine);
  Value negative = e.cmpi(arith::CmpIPredicate::ne, e.bitAnd(quadrant, 2), 0);
  return e.select(negative, e.neg(value), value);
}

Value emitTangentF64(const Emit &e, Value x) {
  SineAndCosine rest = sineAndCosine(e, x);
  Value odd = isOdd(e, rest.turns);
  return e.divf(e.select(odd, e.neg(rest.cosine), rest.sine),
                e.select(odd, rest.sine, rest.cosine));
}

// --- the error function --------------------------------------------------------------------------

// erf(x) = x + x * P(x^2) for |x| < 0.82.
static constexpr double kErfNear[] = {
    0.1283791670955126,    -0.37612638903183754,    0.11283791670955122,    -0.026866170645129934,
    0.00522397762542,      -0.000854832702122597,   0.00012055332838474311, -1.4925644165541551e-05,
    1.646193088575032e-06, -1.6362101722092148e-07, 1.4755365807146704e-08, -1.182247312055113e-09,
    6.892015517250689e-11};

// erfc(x) = exp(-x^2) * P((x - 2.5) / (x + 2.5)) / (1 + 2 * x) for x from 0.75 on.
static constexpr double kWideErfcFar[] = {
    1.2648381843668615,    -0.12235676308240422,    -0.09902453957359303,
    0.15762991902320522,   -0.10296705603928061,    0.03276089326947991,
    0.0009318928394546351, -0.00438207836654907,    0.0004918654661647283,
    0.0006321248070635428, -8.847619784583669e-05,  -0.00011352715752777468,
    6.250704176005043e-06, 2.2728860943499123e-05,  2.6508031924732193e-06,
    -4.32244557319847e-06, -1.6307188998476493e-06, 7.331405447352514e-07,
    5.000581304276382e-07, -1.5314726951900412e-07, -2.953661505982109e-08};

// From here on the second formula is taken: both are exact around it.
static constexpr double kErfFar = 0.79;

static Value erfNear(const Emit &e, Value x) {
  return e.fma(x, polynomial(e, e.mul(x, x), kErfNear), x);
}

// erfc of a number that is not negative, between the limits of the second formula and the point where `most` makes no difference.
static Value erfcFar(const Emit &e, Value magnitude, double most) {
  Type t = magnitude.getType();
  Value x = clamp(e, magnitude, 0.75, most), one = e.real(t, 1.0);
  Value ratio = e.divf(e.sub(x, e.real(t, 2.5)), e.add(x, e.real(t, 2.5)));
  Value factor = e.divf(polynomial(e, ratio, kWideErfcFar), e.fma(x, e.real(t, 2.0), one));
  // exp(-(s + r)) = exp(-s) * (1 - r) for the square in two parts.
  TwoParts square = productInParts(e, x, x);
  ReducedDouble power = reduce(e, e.neg(square.high));
  Value tail = e.fma(e.neg(square.low), e.add(one, power.tail), power.tail);
  // Powers of two last, as in `scale`, so that subnormal results round once.
  Value half = shiftSigned(e, power.n, 1);
  Value first = powerOfTwo(e, half), second = powerOfTwo(e, e.sub(power.n, half));
  return e.mul(e.mul(e.fma(tail, factor, factor), first), second);
}

Value emitErfF64(const Emit &e, Value x) {
  Value magnitude = e.abs(x);
  // From 6 on, erfc is less than half of what 1 can lose.
  Value far = e.sub(e.real(x.getType(), 1.0), erfcFar(e, magnitude, 6.0));
  Value isNear = e.cmpf(CmpFPredicate::OLT, magnitude, kErfFar);
  return e.select(isNear, erfNear(e, x), e.copySign(far, x));
}

Value emitErfcF64(const Emit &e, Value x) {
  Type t = x.getType();
  Value magnitude = e.abs(x), far = erfcFar(e, magnitude, 27.5);
  far = e.select(e.cmpf(CmpFPredicate::OLT, x, 0.0), e.sub(e.real(t, 2.0), far), far);
  Value isNear = e.cmpf(CmpFPredicate::OLT, magnitude, kErfFar);
  return e.select(isNear, e.sub(e.real(t, 1.0), erfNear(e, x)), far);
}

} // namespace ptl::cpu
