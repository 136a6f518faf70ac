#include "codegen/cpu/math_approx.h"

#include "codegen/cpu/interval_tables.h"
#include "codegen/cpu/math_double.h"
#include "codegen/cpu/math_pieces.h"
#include "passes/analysis/polynomials.h"

#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

// One call of `callee`, a C function on the element type, per lane.
static Value laneCalls(const Emit &e, StringRef callee, ValueRange operands) {
  auto vector = dyn_cast<VectorType>(operands[0].getType());
  if (!vector)
    return e.call(callee, operands[0].getType(), operands);
  // The C library has no vector functions, so the lanes are computed one by one.
  auto lanes = e.index(vector.getNumElements());
  return e.loop(e.index(0), lanes, e.index(1), ValueRange{e.zero(vector)},
                [&](const Emit &e, Value lane, ValueRange carried) -> SmallVector<Value> {
                  SmallVector<Value> scalars;
                  for (Value operand : operands)
                    scalars.push_back(e.b.create<vector::ExtractElementOp>(e.loc, operand, lane));
                  Value result = e.call(callee, vector.getElementType(), scalars);
                  return {e.b.create<vector::InsertElementOp>(e.loc, result, carried[0], lane)};
                })[0];
}

Value emitLibm(const Emit &e, StringRef name, ValueRange operands) {
  std::string symbol = name.str() + (isF64(operands[0]) ? "" : "f");
  return laneCalls(e, symbol, operands);
}

namespace {
/// A sum in f32 whose lowest nine bits are a whole number n and a bias, so that shifts alone make powers of two of it; `value` is n.
struct BiasedRounded {
  Value value, sum;
};

/// Two powers of two whose product is 2^n, for n in [-252, 257].
struct PowerInHalves {
  Value first, second;
};

/// exp(x) = 2^n * (1 + tail), with n a whole number and |tail| < 0.42.
struct ReducedExponent {
  BiasedRounded n;
  Value tail;
};
} // namespace

// The bias of the exponent field of f32.
static constexpr int64_t kBias = 127;

// Rounds x * scale to a whole number as `roundToInteger` does.
static BiasedRounded roundWithBias(const Emit &e, Value x, double scale, int64_t bias) {
  Value shifter = e.real(x.getType(), 12582912.0 + static_cast<double>(bias));
  Value sum = e.fma(x, e.real(x.getType(), scale), shifter);
  return {e.sub(sum, shifter), e.bitcast(sum, e.b.getI32Type())};
}

// 2^n for n in [-126, 127], of a sum with the bias of f32.
static Value powerOfTwo(const Emit &e, const BiasedRounded &n) {
  return e.bitcast(e.shl(n.sum, 23), e.b.getF32Type());
}

// Of a sum with twice the bias of f32: subnormal results round once, and 2^128 does not overflow, if they are scaled in two steps.
static PowerInHalves powerInHalves(const Emit &e, const BiasedRounded &n) {
  // The sum is halved and moved to the exponent field at once; the mask drops the bit that halving leaves.
  Value half = e.bitAnd(e.shl(n.sum, 22), -(int64_t(1) << 23));
  Value rest = e.sub(e.shl(n.sum, 23), half);
  return {e.bitcast(half, e.b.getF32Type()), e.bitcast(rest, e.b.getF32Type())};
}

// 2^n * (1 + tail).
static Value scaleByPower(const Emit &e, Value tail, const BiasedRounded &n) {
  if (hasTables(e, tail))
    return scaleAtOnce(e, e.add(e.real(tail.getType(), 1.0), tail), n.value);
  PowerInHalves power = powerInHalves(e, n);
  return e.mul(e.fma(tail, power.first, power.first), power.second);
}

static ReducedExponent reduceExponent(const Emit &e, Value x, int64_t bias) {
  BiasedRounded n = roundWithBias(e, x, Log2E, bias);
  // The two parts of ln 2 are subtracted one after the other, so that nothing is lost where `x` is
  // close to n * ln 2.
  Value r = e.fma(n.value, e.real(x.getType(), -Ln2High), x);
  r = e.fma(n.value, e.real(x.getType(), -Ln2Low), r);
  // The polynomial is off by less than a tenth of half a unit in the last place of exp, and a third for the tail alone.
  return {n, tailInPairs(e, r, e.mul(r, r),
                         {0.5, 0.16666541993618011, 0.04166628047823906, 0.008366644382476807,
                          0.0013946554390713573})};
}

// --- powers of two from a table in registers, for vectors of 16 floats ------------------------------

namespace {
/// exp(x) = 2^whole * T * exp(rest), where T is 2^(j/16), j the four lowest of `bits`, and |rest| < ln 2 / 32. `whole` has j sixteenths,
/// which scaling rounds off.
struct SixteenthExponent {
  Value bits, sixteenths, rest;
};
} // namespace

static SixteenthExponent reduceBySixteenths(const Emit &e, Value x) {
  Type t = x.getType();
  Value shift = e.real(t, SixteenthShift);
  Value sum = e.fma(x, e.real(t, Log2E), shift);
  Value sixteenths = e.sub(sum, shift);
  Value rest = e.fma(sixteenths, e.real(t, -Ln2High), x);
  rest = e.fma(sixteenths, e.real(t, -Ln2Low), rest);
  return {e.bitcast(sum, e.b.getI32Type()), sixteenths, rest};
}

static Value expByTable(const Emit &e, Value x) {
  Type t = x.getType();
  SixteenthExponent reduced = reduceBySixteenths(e, x);
  Value r = reduced.rest;
  // The rest is at most ln 2 / 32, so three terms are enough.
  Value tail = e.fma(e.mul(r, r), polynomial(e, r, {0.5, 1.0 / 6}), r);
  Value high = fromTable(e, t, powersOfTwo(false), reduced.bits);
  Value low = fromTable(e, t, powersOfTwo(true), reduced.bits);
  return scaleAtOnce(e, e.add(high, e.fma(high, tail, low)), reduced.sixteenths);
}

// An odd function by a polynomial for each interval, whose coefficients come from tables in pairs of registers.
static Value byIntervals(const Emit &e, Value x, const IntervalTable &function) {
  Type t = x.getType();
  Value magnitude = e.abs(x), most = e.real(t, function.most);
  // Beyond the last interval the function is constant in f32. A NaN fails the comparison and stays
  // NaN.
  magnitude = e.select(e.cmpf(CmpFPredicate::OGT, magnitude, most), most, magnitude);
  Value bits = e.bitcast(magnitude, e.b.getI32Type());
  Value first = e.integer(bits.getType(), function.first);
  bits = e.select(e.cmpi(CmpIPredicate::sgt, bits, first), bits, first);
  // The five lowest bits are the number of the interval and a constant, by which the tables are rotated.
  Value interval = e.shrUnsigned(bits, 21);
  auto column = [&](size_t number) {
    std::array<float, 32> rotated;
    for (uint32_t i = 0; i < 32; ++i)
      rotated[((function.first >> 21) + i) % 32] = function.table[number][i];
    auto half = [&](ArrayRef<float> numbers) -> Value {
      return e.b.create<arith::ConstantOp>(
          e.loc, DenseElementsAttr::get(cast<VectorType>(t), numbers.take_front(16)));
    };
    ArrayRef<float> all = rotated;
    return e.intrinsic("llvm.x86.avx512.vpermi2var.ps.512", t,
                       {half(all), interval, half(all.drop_front(16))});
  };
  // Column 0 holds the middle of each interval, which keeps the argument of the polynomial small.
  Value y = e.sub(magnitude, column(0));
  Value result = column(function.columns - 1);
  for (size_t number = function.columns - 2; number > 0; --number)
    result = e.fma(result, y, column(number));
  return e.copySign(result, x);
}

// --- exponentials --------------------------------------------------------------------------------

Value emitExp(const Emit &e, Value x) {
  if (isF64(x))
    return emitExpF64(e, x);
  // Beyond these limits the result is 0 or infinity in f32, and the exponent would leave its field.
  x = clamp(e, x, -104.0, 89.0);
  if (hasTables(e, x))
    return expByTable(e, x);
  ReducedExponent reduced = reduceExponent(e, x, 2 * kBias);
  return scaleByPower(e, reduced.tail, reduced.n);
}

Value emitExpUpTo1(const Emit &e, Value x) {
  if (isF64(x))
    return emitExpF64(e, x);
  x = clamp(e, x, -104.0, Infinity);
  if (hasTables(e, x))
    return expByTable(e, x);
  // 2^n is 2^(n + 25) * 2^-25, where what is multiplied last is normal for all n in [-150, 102], so results round once.
  ReducedExponent reduced = reduceExponent(e, x, kBias + 25);
  Value power = powerOfTwo(e, reduced.n);
  return e.mul(e.fma(reduced.tail, power, power), e.real(x.getType(), 0x1p-25));
}

Value emitHalfExp(const Emit &e, Value x) {
  if (isF64(x))
    return emitHalfExpF64(e, x);
  // The polynomial's power of two has one less in the exponent.
  ReducedExponent reduced = reduceExponent(e, clamp(e, x, -104.0, 90.0), 2 * kBias - 1);
  Value less = e.sub(reduced.n.value, e.real(x.getType(), 1.0));
  return scaleByPower(e, reduced.tail, {less, reduced.n.sum});
}

Value emitExp2(const Emit &e, Value x) {
  if (isF64(x))
    return emitExp2F64(e, x);
  x = clamp(e, x, -151.0, 129.0);
  BiasedRounded n = roundWithBias(e, x, 1.0, 2 * kBias);
  Value r = e.sub(x, n.value);
  Value p = polynomial(e, r,
                       {0.24022650718688965, 0.05550406128168106, 0.00961808767169714,
                        0.0013336656847968698, 0.00015451859508175403, 1.4674889825982973e-05});
  // The constant ln 2 in two parts: the first product is what limits the error.
  Value high = e.real(x.getType(), static_cast<float>(Ln2));
  Value low = e.real(x.getType(), Ln2 - static_cast<float>(Ln2));
  Value tail = e.fma(r, high, e.fma(e.mul(r, r), p, e.mul(r, low)));
  return scaleByPower(e, tail, n);
}

static Value logViaWide(const Emit &e, Value x, double scale) {
  if (hasTables(e, x))
    return emitLogByTable(e, x, scale * Ln2);
  // Every f32, even a subnormal one, is a normal f64.
  Value wide = logWide(e, e.extf(x, e.b.getF64Type()), scale);
  return logEdges(e, x, e.truncf(wide, e.b.getF32Type()));
}

Value emitLog2(const Emit &e, Value x) {
  return isF64(x) ? emitLog2F64(e, x) : logViaWide(e, x, Log2E);
}

Value emitLog10(const Emit &e, Value x) {
  return isF64(x) ? emitLog10F64(e, x) : logViaWide(e, x, 0.434294481903251827651128918916605082);
}

Value emitLog1p(const Emit &e, Value x) {
  if (isF64(x))
    return emitLog1pF64(e, x);
  if (hasTables(e, x))
    return emitLog1pByTable(e, x);
  Value wide = e.extf(x, e.b.getF64Type());
  // In f64 the sum is exact, or 1 no longer matters, unless `x` is tiny; then the result is `x`.
  Value sum = e.add(wide, e.real(wide.getType(), 1.0));
  Value result = e.truncf(logWide(e, sum, 1.0), e.b.getF32Type());
  result = logEdges(e, x, result, -1.0);
  return e.select(e.cmpf(CmpFPredicate::OLT, e.abs(x), std::ldexp(1.0, -26)), x, result);
}

Value emitExpm1(const Emit &e, Value x) {
  if (isF64(x))
    return emitExpm1F64(e, x);
  Value wide = e.extf(clamp(e, x, -104.0, 89.0), e.b.getF64Type());
  Value power = exp2Wide(e, e.mul(wide, e.real(wide.getType(), Log2E)));
  // Near 0 the difference would cancel: the Taylor series of expm1 there.
  SmallVector<double> taylor;
  double factorial = 1;
  for (int k = 1; k <= 6; ++k)
    taylor.push_back(1.0 / (factorial *= k));
  Value near = e.mul(wide, polynomial(e, wide, taylor));
  Value isNear = e.cmpf(CmpFPredicate::OLT, e.abs(wide), 0.03125);
  Value result = e.select(isNear, near, e.sub(power, e.real(wide.getType(), 1.0)));
  Value narrow = e.truncf(result, e.b.getF32Type());
  // The sum of the formula would turn -0 into 0.
  narrow = e.select(e.cmpf(CmpFPredicate::OEQ, x, 0.0), x, narrow);
  return e.select(e.cmpf(CmpFPredicate::OGT, x, 88.8), e.real(x.getType(), Infinity), narrow);
}

Value emitLog(const Emit &e, Value x) {
  if (isF64(x))
    return emitLogF64(e, x);
  Type i32 = e.b.getI32Type(), f32 = e.b.getF32Type(), t = x.getType();
  // A subnormal number has no leading one to find its exponent by, so it is scaled by 2^23.
  Value subnormal = e.cmpf(CmpFPredicate::OLT, x, 0x1p-126);
  Value scaled = e.select(subnormal, e.mul(x, e.real(t, 8388608.0)), x);
  // As in `logWide`, the mantissa lies around 1, which keeps f small on both sides.
  Value bits = e.bitcast(scaled, i32);
  Value exponent = shiftSigned(e, e.sub(bits, e.integer(bits.getType(), 0x3f3504f3)), 23);
  Value mantissa = e.bitcast(e.sub(bits, e.shl(exponent, 23)), f32);
  Value n = e.sitofp(exponent, f32);
  n = e.select(subnormal, e.sub(n, e.real(t, 23.0)), n);
  Value f = e.sub(mantissa, e.real(t, 1.0));
  Value z = e.mul(f, f);
  Value p = polynomial(e, f,
                       {0.3333331346511841, -0.25000008940696716, 0.2000207155942917,
                        -0.16667990386486053, 0.14220362901687622, -0.12406208366155624,
                        0.1188347116112709, -0.11670183390378952, 0.06749540567398071});
  Value tail = e.mul(e.mul(f, z), p);
  // Small terms are added first, so that the large ones round last.
  tail = e.fma(n, e.real(t, Ln2Low), tail);
  tail = e.fma(z, e.real(t, -0.5), tail);
  Value result = e.fma(n, e.real(t, Ln2High), e.add(f, tail));
  return logEdges(e, x, result);
}

// exp(x) - 1 for x that is not negative, up to where the hyperbolic tangent of half of it is 1 in its type.
static Value expm1Positive(const Emit &e, Value x) {
  if (isF64(x))
    return emitExpm1F64(e, clamp(e, x, 0.0, 44.0));
  // exp(x) - 1 = (2^n - 1) + 2^n * (exp(r) - 1).
  ReducedExponent reduced = reduceExponent(e, clamp(e, x, 0.0, 20.0), kBias);
  Value scale = powerOfTwo(e, reduced.n);
  return e.fma(scale, reduced.tail, e.sub(scale, e.real(x.getType(), 1.0)));
}

Value emitTanh(const Emit &e, Value x) {
  if (hasTables(e, x))
    return byIntervals(e, x, tanhTable);
  // tanh(x) = m / (m + 2) with m = exp(2 |x|) - 1, in which nothing cancels, so no other formula is needed near 0.
  Type t = x.getType();
  Value magnitude = e.abs(x), m = expm1Positive(e, e.add(magnitude, magnitude));
  Value two = e.real(t, 2.0);
  Value sum = e.add(m, two), quotient = e.divf(m, sum);
  // What the sum lost weighs loss / sum, and 1 / sum is (1 - quotient) / 2.
  Value twoInSum = e.sub(sum, m);
  Value loss = e.add(e.sub(m, e.sub(sum, twoInSum)), e.sub(two, twoInSum));
  Value weight = e.mul(e.mul(quotient, loss), e.real(t, 0.5));
  Value result = e.sub(quotient, e.fma(e.neg(weight), quotient, weight));
  return e.copySign(result, x); // -0 too, whose sign the formula loses
}

// The fourth root of erfc(a) for a in [0.92, 3.95]: a polynomial has it to less than a hundredth of what 1 - erfc can show, and
// needs neither an exponential nor a division.
static constexpr double kErfLimit = 3.95;
static constexpr double kRootOfErfc[] = {
    0.9998059868812561,     -0.2806974947452545,   -0.12381136417388916,   0.02368920110166073,
    0.0088184280321002,     0.0066404337994754314, -0.0062256003729999065, 0.0017658965662121773,
    -0.0002274841972393915, 1.151197557192063e-05};

Value emitErf(const Emit &e, Value x) {
  if (isF64(x))
    return emitErfF64(e, x);
  if (hasTables(e, x))
    return byIntervals(e, x, erfTable);
  Type t = x.getType();
  Value magnitude = e.abs(x);
  // Near 0 the far formula, 1 - erfc, would cancel.
  Value near = polynomial(e, e.mul(x, x), polynomials::erfNear);
  near = e.fma(near, x, x);
  // From the limit on, erfc is less than what 1 can lose in f32. A NaN fails the comparison and stays NaN.
  Value limit = e.real(t, kErfLimit);
  Value a = e.select(e.cmpf(CmpFPredicate::OGT, magnitude, kErfLimit), limit, magnitude);
  Value root = polynomial(e, a, kRootOfErfc);
  Value square = e.mul(root, root);
  // The last product is exact inside of the sum.
  Value far = e.fma(e.neg(square), square, e.real(t, 1.0));
  Value isNear = e.cmpf(CmpFPredicate::OLT, magnitude, 0.9296875);
  return e.select(isNear, near, e.copySign(far, x));
}

// erfc(x) = exp(-x^2) * P((x - 3) / (x + 3)) / (1 + 2 * x) for x from 0.4 on, to 2^-39.
static constexpr double kErfcFar[] = {
    1.2530080582706113,    -0.1356211060058242,    -0.04756229456786852,    0.12964515725183376,
    -0.11927365525668382,  0.06830806140011313,    -0.023770626083492813,   0.0025290273692257473,
    0.0018893634221081677, -0.0007778128521231709, -0.00010698309336538442, 0.00011927271981144925,
    6.556542043277153e-06, -1.2262057965184758e-05};

Value emitErfc(const Emit &e, Value x) {
  if (isF64(x))
    return emitErfcF64(e, x);
  Type t = x.getType();
  Value magnitude = e.abs(x), one = e.real(t, 1.0);
  Value near = polynomial(e, e.mul(x, x), polynomials::erfNear);
  near = e.sub(one, e.fma(near, x, x));
  // Beyond the limit the result is 0 in f32. A NaN fails the comparison and stays NaN.
  Value wide = e.extf(clamp(e, magnitude, 0.0, 10.25), e.b.getF64Type());
  Type w = wide.getType();
  Value three = e.real(w, 3.0), above = e.add(wide, three);
  Value twice = e.add(e.add(wide, wide), e.real(w, 1.0));
  // One division for both quotients.
  Value inverse = e.divf(e.real(w, 1.0), e.mul(above, twice));
  Value place = e.mul(e.mul(e.sub(wide, three), twice), inverse);
  Value power = exp2Wide(e, e.mul(e.mul(wide, wide), e.real(w, -Log2E)));
  Value far = e.mul(e.mul(power, polynomial(e, place, kErfcFar)), e.mul(above, inverse));
  Value isNegative = e.cmpf(CmpFPredicate::OLT, x, 0.0);
  far = e.truncf(e.select(isNegative, e.sub(e.real(w, 2.0), far), far), e.b.getF32Type());
  return e.select(e.cmpf(CmpFPredicate::OLT, magnitude, 0.46875), near, far);
}

Value emitSigmoid(const Emit &e, Value x) {
  Value power = emitExpUpTo1(e, e.neg(e.abs(x)));
  Value one = e.real(x.getType(), 1.0);
  Value upper = e.divf(one, e.add(one, power));
  // p / (1 + p) = p - p * (p / (1 + p)): the rounding of 1 + p weighs little.
  Value lower = e.fma(e.neg(power), e.mul(power, upper), power);
  return e.select(e.cmpf(CmpFPredicate::OLT, x, 0.0), lower, upper);
}

Value emitRsqrt(const Emit &e, Value x) {
  return e.divf(e.real(x.getType(), 1.0), e.b.create<math::SqrtOp>(e.loc, x));
}

// --- trigonometry --------------------------------------------------------------------------------

namespace {
/// x = quadrant * pi/2 + rest in double precision, and both functions of the rest.
struct Reduced {
  Value quadrant, sine, cosine;
};
} // namespace

// Valid for |x| < 2^30: there the quadrant is exact and the rest keeps 2^-55 absolute error.
static Reduced reduceAngle(const Emit &e, Value x) {
  Value wide = e.extf(x, e.b.getF64Type());
  Type t = wide.getType();
  Rounded n = roundToInteger(e, wide, 0.636619772367581343075535053490057448);
  // pi/2 in two parts, for the same reason as ln 2 above.
  Value r = e.fma(n.value, e.real(t, -1.5707963267948966), wide);
  r = e.fma(n.value, e.real(t, -6.123233995736766e-17), r);
  Value z = e.mul(r, r);
  Value sine = polynomial(e, z, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800});
  sine = e.fma(e.mul(r, z), sine, r);
  Value cosine = polynomial(
      e, z, {1.0, -0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600});
  return {n.bits, sine, cosine};
}

// Very large arguments are rare: they leave the straight line for the C library.
static Value withHugeArguments(const Emit &e, StringRef name, Value x, Value result, double limit) {
  Value huge = e.cmpf(CmpFPredicate::OGE, e.abs(x), limit);
  return unlessAny(e, huge, result, [&](const Emit &slow) { return emitLibm(slow, name, x); });
}

static Value emitSineAt(const Emit &e, Value x, int64_t quarterTurns) {
  bool isSine = quarterTurns == 0;
  // The sine of -0 is -0.
  auto withZeros = [&](Value value) {
    return isSine ? e.select(e.cmpf(CmpFPredicate::OEQ, x, 0.0), x, value) : value;
  };
  StringRef name = isSine ? "sin" : "cos";
  if (isF64(x))
    return withHugeArguments(e, name, x, withZeros(emitSineF64(e, x, quarterTurns)), 0x1p25);
  Reduced a = reduceAngle(e, x);
  Value quadrant = e.add(a.quadrant, e.integer(a.quadrant.getType(), quarterTurns));
  // Odd quadrants swap sine and cosine, and the upper two of four negate.
  Value odd = e.cmpi(CmpIPredicate::ne, e.bitAnd(quadrant, 1), 0);
  Value value = e.select(odd, a.cosine, a.sine);
  Value negative = e.cmpi(CmpIPredicate::ne, e.bitAnd(quadrant, 2), 0);
  value = e.truncf(e.select(negative, e.neg(value), value), e.b.getF32Type());
  return withHugeArguments(e, name, x, withZeros(value), 0x1p30);
}

Value emitSin(const Emit &e, Value x) { return emitSineAt(e, x, 0); }

Value emitCos(const Emit &e, Value x) { return emitSineAt(e, x, 1); }

Value emitTan(const Emit &e, Value x) {
  if (isF64(x))
    return withHugeArguments(
        e, "tan", x, e.select(e.cmpf(CmpFPredicate::OEQ, x, 0.0), x, emitTangentF64(e, x)), 0x1p25);
  Reduced a = reduceAngle(e, x);
  Value odd = e.cmpi(CmpIPredicate::ne, e.bitAnd(a.quadrant, 1), 0);
  // After a division in double precision only the rounding to f32 counts.
  Value top = e.select(odd, e.neg(a.cosine), a.sine);
  Value bottom = e.select(odd, a.sine, a.cosine);
  Value value = e.truncf(e.divf(top, bottom), e.b.getF32Type());
  value = e.select(e.cmpf(CmpFPredicate::OEQ, x, 0.0), x, value);
  return withHugeArguments(e, "tan", x, value, 0x1p30);
}

// --- remainder -----------------------------------------------------------------------------------

// |x| modulo |y|, with the sign of x, where the quotient of both is less than `limit`, a power of two that the type has all whole numbers up to: then the whole part of the rounded quotient is
// at most 1 too large, and what it leaves is exact.
static Value remainderOf(const Emit &e, Value x, Value y, double limit, Value &huge) {
  Value rest = e.abs(x), divisor = e.abs(y);
  Value quotient = e.divf(rest, divisor);
  huge = e.cmpf(CmpFPredicate::OGE, quotient, limit);
  Value whole = e.b.create<math::TruncOp>(e.loc, quotient);
  Value left = e.fma(e.neg(whole), divisor, rest);
  left = e.select(e.cmpf(CmpFPredicate::OLT, left, 0.0), e.add(left, divisor), left);
  // A product with infinity is no number.
  Value isAll = e.bitAnd(e.cmpf(CmpFPredicate::OEQ, divisor, Infinity),
                         e.cmpf(CmpFPredicate::OLT, rest, Infinity));
  return e.copySign(e.select(isAll, rest, left), x);
}

Value emitFmod(const Emit &e, Value x, Value y) {
  Value huge;
  if (isF64(x)) {
    Value result = remainderOf(e, x, y, 0x1p53, huge);
    return unlessAny(e, huge, result,
                     [&](const Emit &slow) { return emitLibm(slow, "fmod", {x, y}); });
  }
  // Longer quotients fit double precision, in which the remainder is exact, too.
  Value result = remainderOf(e, x, y, 0x1p24, huge);
  return unlessAny(e, huge, result, [&](const Emit &slow) {
    Type f64 = slow.b.getF64Type();
    return slow.truncf(emitFmod(slow, slow.extf(x, f64), slow.extf(y, f64)), slow.b.getF32Type());
  });
}

} // namespace ptl::cpu
