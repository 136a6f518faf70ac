// Elementary functions by `exp`, `log`, `sqrt` and polynomials, in `f32`: within a few units in the
// last place as far as those instructions are.

#include "passes/transform/legalize/legalize_math.h"
#include "passes/transform/legalize/legalize_comparison.h"

#include "passes/analysis/polynomials.h"

#include <cmath>

using namespace mlir;

namespace ptl::ir::legalize {

static constexpr double kLn2 = 0.693147180559945309417232121458176568;
static constexpr double kLog2E = 1.44269504088896340735992468100189214;

/// What has an instruction on some floats: `t` and the first letters of the name.
static Value rewriteByInstruction(const Tiles &t, Operation *op) {
  llvm::StringRef name = op->getName().stripDialect();
  std::string instruction = "t" + (name == "reciprocal" ? llvm::StringRef("recip") : name).str();
  return t.target.has(instruction, elem(op->getOperand(0))) ? Value() : onWiderFloats(t, op);
}

// ---- parts of numbers ---------------------------------------------------------------------------

static Value keepNan(const Tiles &t, Value x, Value result) {
  return t.select(t.ne(x, x), x, result);
}

static Value powerOfTwo(const Tiles &t, Value exponent) {
  // An `f32` has the exponent bias 127 and 23 bits of fraction below the exponent.
  return t.bitcast(t.shl(t.add(exponent, 127), 23), t.f32());
}

/// value * 2^exponent for |exponent| <= 252, in two steps, so that subnormal results round once.
static Value scale(const Tiles &t, Value value, Value exponent) {
  Value half = t.shr(exponent, 1);
  Value rest = t.sub(exponent, half);
  return t.mul(t.mul(value, powerOfTwo(t, half)), powerOfTwo(t, rest));
}

namespace {
/// A positive number as mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)).
struct Parts {
  Value mantissa, exponent;
};
/// A number as the sum of two, the second below the last place of the first.
struct Pair {
  Value high, low;
};
} // namespace

static Parts split(const Tiles &t, Value x) {
  // A subnormal number has no implicit one, so it is scaled up first.
  Value tiny = t.lt(x, 0x1p-126);
  // The scaling is exact, and the exponent is corrected at the end.
  Value bits = t.bitcast(t.select(tiny, t.mul(x, 0x1p23), x), t.i32());
  // 0x3f3504f3 is sqrt(1/2): subtracting it makes the exponent change there instead of at powers of
  // two.
  Value exponent = t.shr(t.sub(bits, 0x3f3504f3), 23);
  Value mantissa = t.bitcast(t.sub(bits, t.shl(exponent, 23)), t.f32());
  Value number = t.convert(exponent, t.f32());
  return {mantissa, t.select(tiny, t.sub(number, 23), number)};
}

/// The upper 12 bits of the significand.
static Value head(const Tiles &t, Value x) {
  return t.bitcast(t.bitAnd(t.bitcast(x, t.i32()), -4096), t.f32());
}

static Pair exactProduct(const Tiles &t, Value a, Value b) {
  // This is Dekker's product: halves of 12 bits have exact products, and what these lack is the
  // error.
  Value product = t.mul(a, b);
  Value ah = head(t, a), al = t.sub(a, ah), bh = head(t, b), bl = t.sub(b, bh);
  Value error = t.sub(t.mul(ah, bh), product);
  error = t.add(t.add(error, t.mul(ah, bl)), t.mul(al, bh));
  return {product, t.add(error, t.mul(al, bl))};
}

// ---- roundings ----------------------------------------------------------------------------------

static Value rewriteRounding(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  if (t.target.converts(elem(x), elem(x)))
    return {};
  if (Value wide = onWiderFloats(t, op))
    return wide;
  llvm::StringRef mode = isa<FloorOp>(op)   ? "down"
                         : isa<CeilOp>(op)  ? "up"
                         : isa<TruncOp>(op) ? "zero"
                                            : "even";
  // From 2^23 on every number is whole.
  return t.select(t.lt(t.abs(x), 0x1p23), t.convert(t.convert(x, t.i32(), mode), t.f32()), x);
}

// ---- exponentials and logarithms ----------------------------------------------------------------

static Value exp2Of(const Tiles &t, Value x) {
  // Beyond these limits the result is infinite or 0, and the exponent stays within the range of
  // `scale`.
  Value limited = t.max(t.min(x, 129), -151);
  // `exp` only sees a fraction of an exponent, and the whole exponent goes in exactly.
  Value whole = t.round(limited);
  Value power = t.exp(t.mul(t.sub(limited, whole), kLn2));
  return keepNan(t, x, scale(t, power, t.convert(whole, t.i32())));
}

static Value expm1Of(const Tiles &t, Value x) {
  Value tail = t.add(t.mul(t.poly(x, polynomials::expm1), x), 0.5);
  Value near = t.add(t.mul(t.mul(x, x), tail), x);
  // Near 0 the subtraction would cancel all digits of the result.
  return t.select(t.lt(t.abs(x), 0.5), near, t.sub(t.exp(x), 1));
}

static Value log2Of(const Tiles &t, Value x) {
  auto [mantissa, exponent] = split(t, x);
  // The exponent is added after scaling to base 2, so that it is exact.
  Value result = t.add(t.mul(t.log(mantissa), kLog2E), exponent);
  Value edge = t.log(x); // Of 0, negative numbers, infinity and NaN.
  return t.select(t.lt(t.abs(edge), kInfinity), result, edge);
}

static Value log10Of(const Tiles &t, Value x) {
  return t.mul(t.log(x), 0.434294481903251827651128918916605082);
}

/// What 1 + x loses in rounding is made up for by the quotient.
static Value log1pOf(const Tiles &t, Value x) {
  Value sum = t.add(x, 1);
  Value rounded = t.sub(sum, 1);
  Value result = t.mul(t.log(sum), t.div(x, rounded));
  // A sum of exactly 1 means that x is below the last place, and log1p(x) is x.
  result = t.select(t.eq(rounded, 0), x, result);
  return t.select(t.eq(sum, kInfinity), x, result);
}

static Value sigmoidOf(const Tiles &t, Value x) { return t.div(1, t.add(t.exp(t.neg(x)), 1)); }

// ---- hyperbolic functions -----------------------------------------------------------------------

static Value tanhOf(const Tiles &t, Value x) {
  Value size = t.abs(x);
  // tanh(x) = 1 - 2 / (e^2x + 1), which loses digits near 0.
  Value far = t.sub(1, t.div(2, t.add(t.exp(t.add(size, size)), 1)));
  return t.select(t.lt(size, 0.625), t.oddPoly(x, t.mul(x, x), polynomials::tanhNear),
                  withSignOf(t, x, far));
}

/// (e^a + sign * e^-a) / 2 also where e^a alone is beyond the range.
static Value halfSum(const Tiles &t, Value size, double sign) {
  Value power = t.exp(size), root = t.exp(t.mul(size, 0.5));
  // Where e^a overflows e^-a does not count, and the product of two roots stays in the range.
  Value sum = t.add(t.mul(power, 0.5), t.div(0.5 * sign, power));
  return t.select(t.lt(size, 88), sum, t.mul(t.mul(root, 0.5), root));
}

static Value sinhOf(const Tiles &t, Value x) {
  Value size = t.abs(x);
  return t.select(t.lt(size, 1), t.oddPoly(x, t.mul(x, x), polynomials::sinh),
                  withSignOf(t, x, halfSum(t, size, -1)));
}

static Value coshOf(const Tiles &t, Value x) { return halfSum(t, t.abs(x), 1); }

static Value asinhOf(const Tiles &t, Value x) {
  Value size = t.abs(x), square = t.mul(size, size);
  // sqrt(x^2 + 1) - 1 is written as x^2 / (sqrt(x^2 + 1) + 1), which does not cancel.
  Value rest = t.div(square, t.add(t.sqrt(t.add(square, 1)), 1));
  Value near = log1pOf(t, t.add(size, rest));
  // For large numbers asinh(x) is log(2 x), and the square would overflow.
  Value far = t.add(t.log(size), kLn2);
  return withSignOf(t, x, t.select(t.lt(size, 1e4), near, far));
}

static Value acoshOf(const Tiles &t, Value x) {
  Value above = t.sub(x, 1);
  // sqrt(x^2 - 1) is written with x - 1, which is exact near 1. Below 1 a root is NaN as it must be: of the product of both, below -1, that
  // would not be so.
  Value root = t.mul(t.sqrt(above), t.sqrt(t.add(above, 2)));
  Value near = log1pOf(t, t.add(root, above));
  return t.select(t.gt(x, 1e4), t.add(t.log(x), kLn2), near);
}

static Value atanhOf(const Tiles &t, Value x) {
  Value size = t.abs(x);
  // atanh(x) = log1p(2 x / (1 - x)) / 2.
  Value ratio = t.div(t.add(size, size), t.sub(1, size));
  return withSignOf(t, x, t.mul(log1pOf(t, ratio), 0.5));
}

// ---- error functions ----------------------------------------------------------------------------

static Value erfOf(const Tiles &t, Value x) {
  Value size = t.abs(x);
  Value z = t.mul(x, x);
  Value near = t.add(t.mul(t.poly(z, polynomials::erfNear), x), x);
  // Beyond this the result rounds to 1, and the polynomial holds up to here.
  Value a = t.min(size, 3.95);
  Value power = t.sub(t.mul(t.poly(a, polynomials::erfFar), a), a);
  Value far = t.select(t.gt(size, 3.925), t.number(t.f32(), 1), t.sub(1, t.exp(power)));
  return keepNan(t, x, t.select(t.lt(size, 0.9296875), near, withSignOf(t, x, far)));
}

static Value erfcOf(const Tiles &t, Value x) {
  Value size = t.min(t.abs(x), 11);
  // exp(-x * x) with the exact square of the upper half.
  Value top = head(t, size);
  // x^2 = top^2 + (x - top) (x + top), of which the first is exact.
  Value square = t.mul(top, top), more = t.mul(t.sub(size, top), t.add(size, top));
  Value power = t.mul(t.exp(t.neg(square)), t.exp(t.neg(more)));
  Value at = t.div(t.sub(size, 3), t.add(size, 3));
  Value tail = t.mul(power, t.div(t.poly(at, polynomials::erfc), t.add(t.mul(size, 2), 1)));
  // erfc(-x) = 2 - erfc(x).
  Value far = t.select(t.lt(x, 0), t.sub(2, tail), tail);
  Value near = t.sub(1, erfOf(t, x));
  return keepNan(t, x, t.select(t.lt(t.abs(x), 0.5), near, far));
}

// ---- powers -------------------------------------------------------------------------------------

/// log2(x) as a pair, for positive finite x: 2^-30 of error relative to the fraction.
static Pair log2Pair(const Tiles &t, Value x) {
  auto [mantissa, exponent] = split(t, x);
  // log(m) = 2 atanh(s) with s = (m - 1) / (m + 1), whose series has odd powers of s only.
  Value over = t.sub(mantissa, 1);
  Value under = t.add(mantissa, 1);
  Value underLow = t.sub(mantissa, t.sub(under, 1));
  Value s = t.div(over, under);
  // The rest of the division is computed exactly, since its error would be multiplied by y later.
  Pair back = exactProduct(t, s, under);
  Value rest = t.sub(t.sub(t.sub(over, back.high), back.low), t.mul(s, underLow));
  Value z = t.mul(s, s);
  Value tail = t.mul(t.mul(s, z), t.poly(z, {1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11}));
  tail = t.add(tail, t.div(rest, under));
  double factor = 2 * kLog2E;
  // The factor is split into an `f32` and what that lacks.
  auto factorHigh = static_cast<double>(static_cast<float>(factor));
  Pair product = exactProduct(t, s, t.number(t.f32(), factorHigh));
  Value low = t.add(t.add(t.mul(tail, factorHigh), t.mul(s, factor - factorHigh)), product.low);
  // The sum is exact as high + low (Fast2Sum), since the exponent is 0 or larger than the fraction.
  Value sum = t.add(exponent, product.high);
  low = t.add(t.sub(product.high, t.sub(sum, exponent)), low);
  Value high = t.add(sum, low);
  return {high, t.sub(low, t.sub(high, sum))};
}

static Value powerOfSize(const Tiles &t, Value size, Value y) {
  Pair log = log2Pair(t, size);
  // From 2^32 on the result is 0, 1 or infinite.
  Value limited = t.max(t.min(y, 0x1p32), -0x1p32);
  Pair exponent = exactProduct(t, limited, log.high);
  Value low = t.add(exponent.low, t.mul(limited, log.low));
  // Clamping keeps infinities from meeting in later sums.
  low = t.max(t.min(low, 1), -1);
  Value high = t.max(t.min(exponent.high, 252), -252);
  Value whole = t.round(high);
  Value power = t.exp(t.mul(t.add(t.sub(high, whole), low), kLn2));
  Value result = scale(t, power, t.convert(whole, t.i32()));
  // 0 and infinity have no logarithm, and their powers are 0 or infinite by the sign of y.
  Value edge = t.select(t.gt(y, 0), size, t.div(1, size));
  return t.select(t.either(t.eq(size, 0), t.eq(size, kInfinity)), edge, result);
}

static Value realPower(const Tiles &t, Value x, Value y) {
  Value result = powerOfSize(t, t.abs(x), y);
  // A whole number is even if its half is whole, too.
  Value half = t.mul(y, 0.5);
  Value whole = t.eq(t.trunc(y), y), even = t.eq(t.trunc(half), half);
  // The sign bit is read, so that -0.0 counts as negative.
  Value negative = t.eq(t.shr(t.bitcast(x, t.i32()), 31), -1);
  Value odd = t.both(whole, t.negated(even));
  result = t.select(t.both(negative, odd), t.neg(result), result);
  // A negative finite base with a fractional exponent has no real power.
  Value noRoot = t.both(t.both(t.lt(x, 0), t.gt(x, -kInfinity)), t.negated(whole));
  Value nan = t.either(t.ne(x, x), t.ne(y, y));
  result = t.select(t.either(noRoot, nan), t.number(t.f32(), kNan), result);
  // IEEE 754 has x^0 = 1 and 1^y = 1 even for NaN, so this comes last.
  return t.select(t.either(t.eq(y, 0), t.eq(x, 1)), t.number(t.f32(), 1), result);
}

/// x^n by squaring: each bit of n decides whether the present square goes in.
static Value wholePower(const Tiles &t, Value x, int64_t n) {
  Value result, square = x;
  for (; n; n /= 2) {
    if (n % 2)
      result = result ? t.mul(result, square) : square;
    if (n > 1)
      square = t.mul(square, square);
  }
  return result;
}

static Value rewritePow(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  std::optional<double> known = constantOf(y);
  // Up to 64, a few multiplications are faster than a logarithm and an exponential, and exact for
  // whole numbers.
  bool isWhole = known && *known == std::trunc(*known) && *known >= 0 && *known <= 64;
  if (isWhole && isArray(x) && *known == 0)
    return t.full(t.number(elem(x), 1), x);
  // Short floats are computed in `f32`; integers wrap in their own type.
  if (!(isWhole && !isReal(elem(x))))
    if (Value wide = onWiderFloats(t, op))
      return wide;
  if (isWhole && isArray(x))
    return t.broadcastTo(wholePower(t, x, static_cast<int64_t>(*known)), op->getResult(0));
  if (!elem(x).isF32())
    return {};
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  return realPower(t, t.spread(x, extents, op->getOperands()),
                   t.spread(y, extents, op->getOperands()));
}

static constexpr Row kMathRows[] = {
    {"exp", rewriteByInstruction},
    {"log", rewriteByInstruction},
    {"sqrt", rewriteByInstruction},
    {"rsqrt", rewriteByInstruction},
    {"reciprocal", rewriteByInstruction},
    {"floor", rewriteRounding},
    {"ceil", rewriteRounding},
    {"round", rewriteRounding},
    {"trunc", rewriteRounding},
    {"exp2", inSingle<exp2Of>},
    {"expm1", inSingle<expm1Of>},
    {"log2", inSingle<log2Of>},
    {"log10", inSingle<log10Of>},
    {"log1p", inSingle<log1pOf>},
    {"sigmoid", inSingle<sigmoidOf>},
    {"tanh", inSingle<tanhOf>},
    {"sinh", inSingle<sinhOf>},
    {"cosh", inSingle<coshOf>},
    {"asinh", inSingle<asinhOf>},
    {"acosh", inSingle<acoshOf>},
    {"atanh", inSingle<atanhOf>},
    {"erf", inSingle<erfOf>},
    {"erfc", inSingle<erfcOf>},
    {"pow", rewritePow},
};

llvm::ArrayRef<Row> mathRows() { return kMathRows; }

} // namespace ptl::ir::legalize
