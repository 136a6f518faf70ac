// Trigonometric functions and their inverses, in `f32`.

#include "passes/transform/legalize/legalize_trigonometry.h"
#include "passes/transform/legalize/legalize_comparison.h"

#include "passes/analysis/polynomials.h"

using namespace mlir;

namespace ptl::ir::legalize {

static constexpr double kPi = 3.14159265358979323846264338327950288;

// ---- sine, cosine, tangent ----------------------------------------------------------------------

namespace {
/// |x| = quadrant * pi/2 + rest, and both functions of the rest.
struct Angle {
  Value quadrant, sine, cosine;
};
} // namespace

/// pi/2 in parts of 12 bits: their products with whole numbers of 12 bits are exact.
static constexpr double kHalfPi[] = {0x1.92p+0,   0x1.fb4p-12, 0x1.444p-24,
                                     0x1.68cp-39, 0x1.1a6p-54, 0x1.318p-69};

/// Arguments from 2^24 on have no digit behind the point; their angle is NaN.
static Angle reduce(const Tiles &t, Value x) {
  Value size = t.abs(x);
  // This is the reduction of Cody and Waite: n times pi/2 is subtracted part by part.
  Value n = t.round(t.mul(size, 2 / kPi));
  // n may have 24 bits, so it is split into two of 12, whose products with each part are exact.
  Value upper = t.mul(t.trunc(t.mul(n, 0x1p-12)), 0x1p12);
  Value lower = t.sub(n, upper);
  Value r = t.select(t.lt(size, 0x1p24), size, t.number(t.f32(), kNan));
  for (double part : kHalfPi) {
    r = t.sub(r, t.mul(upper, part));
    r = t.sub(r, t.mul(lower, part));
  }
  Value z = t.mul(r, r);
  Value cosine = t.add(t.mul(z, t.poly(z, polynomials::cos)), 1);
  return {t.convert(n, t.i32()), t.oddPoly(r, z, polynomials::sin), cosine};
}

static Value isSet(const Tiles &t, Value word, int bit) { return t.eq(t.bitAnd(word, bit), bit); }

static Value sineAt(const Tiles &t, const Angle &angle, Value quadrant) {
  // In odd quadrants sine and cosine exchange, and in the second half both are negative.
  Value value = t.select(isSet(t, quadrant, 1), angle.cosine, angle.sine);
  return t.select(isSet(t, quadrant, 2), t.neg(value), value);
}

static Value sinOf(const Tiles &t, Value x) {
  Angle angle = reduce(t, x);
  // Sine is odd, so the reduced angle is that of |x| and the sign is put back.
  return withSignOf(t, x, sineAt(t, angle, angle.quadrant));
}

static Value cosOf(const Tiles &t, Value x) {
  Angle angle = reduce(t, x);
  // cos(x) = sin(x + pi/2), so the next quadrant is taken; cosine is even.
  return sineAt(t, angle, t.add(angle.quadrant, 1));
}

static Value tanOf(const Tiles &t, Value x) {
  Angle angle = reduce(t, x);
  Value odd = isSet(t, angle.quadrant, 1);
  // In odd quadrants tan(x) = -cos / sin of the rest.
  Value over = t.select(odd, t.neg(angle.cosine), angle.sine);
  Value under = t.select(odd, angle.sine, angle.cosine);
  return withSignOf(t, x, t.div(over, under));
}

// ---- inverse functions --------------------------------------------------------------------------

/// atan of numbers in [0, 1].
static Value atanBelowOne(const Tiles &t, Value x) {
  // Above tan(pi/8), atan(x) = pi/4 + atan((x - 1) / (x + 1)), so the series only has small
  // arguments.
  Value steep = t.gt(x, 0.41421356237309503);
  Value u = t.select(steep, t.div(t.sub(x, 1), t.add(x, 1)), x);
  Value near = t.oddPoly(u, t.mul(u, u), polynomials::atan);
  return t.select(steep, t.add(near, kPi / 4), near);
}

static Value atanOf(const Tiles &t, Value x) {
  Value size = t.abs(x);
  // Above 1, atan(x) = pi/2 - atan(1 / x).
  Value large = t.gt(size, 1);
  Value angle = atanBelowOne(t, t.select(large, t.div(1, size), size));
  return withSignOf(t, x, t.select(large, t.sub(kPi / 2, angle), angle));
}

static Value rewriteAtan2(const Tiles &t, Operation *op) {
  if (Value wide = onWiderFloats(t, op))
    return wide;
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  Value y = t.spread(op->getOperand(0), extents, op->getOperands());
  Value x = t.spread(op->getOperand(1), extents, op->getOperands());
  if (!elem(y).isF32())
    return {};
  Value sizeX = t.abs(x), sizeY = t.abs(y);
  Value large = t.max(sizeX, sizeY), small = t.min(sizeX, sizeY);
  // 0 over 0 counts as 0, and infinity over infinity as 1: the angles are those of the axes and
  // diagonals.
  Value ratio = t.select(t.eq(large, 0), large, t.div(small, large));
  ratio = t.select(t.eq(small, kInfinity), t.number(t.f32(), 1), ratio);
  Value angle = atanBelowOne(t, ratio);
  angle = t.select(t.gt(sizeY, sizeX), t.sub(kPi / 2, angle), angle);
  // The signs of zeros count.
  Value left = t.eq(t.shr(t.bitcast(x, t.i32()), 31), -1);
  angle = t.select(left, t.sub(kPi, angle), angle);
  angle = t.make(CopysignOp::getOperationName(), t.f32(), {angle, y});
  return t.select(t.either(t.ne(x, x), t.ne(y, y)), t.number(t.f32(), kNan), angle);
}

namespace {
/// asin of |x| up to 1/2, and half of pi/2 - asin beyond.
struct ArcSine {
  Value large, angle;
};
} // namespace

static ArcSine arcSine(const Tiles &t, Value x) {
  Value size = t.abs(x);
  Value large = t.gt(size, 0.5);
  // Above 1/2, asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
  Value z = t.select(large, t.mul(t.sub(1, size), 0.5), t.mul(size, size));
  Value s = t.select(large, t.sqrt(z), size);
  return {large, t.oddPoly(s, z, polynomials::asin)};
}

static Value asinOf(const Tiles &t, Value x) {
  auto [large, angle] = arcSine(t, x);
  Value far = t.sub(kPi / 2, t.add(angle, angle));
  return withSignOf(t, x, t.select(large, far, angle));
}

static Value acosOf(const Tiles &t, Value x) {
  auto [large, angle] = arcSine(t, x);
  Value twice = t.add(angle, angle);
  Value far = t.select(t.lt(x, 0), t.sub(kPi, twice), twice);
  return t.select(large, far, t.sub(kPi / 2, withSignOf(t, x, angle)));
}

static constexpr Row kTrigonometryRows[] = {
    {"sin", inSingle<sinOf>},   {"cos", inSingle<cosOf>},   {"tan", inSingle<tanOf>},
    {"asin", inSingle<asinOf>}, {"acos", inSingle<acosOf>}, {"atan", inSingle<atanOf>},
    {"atan2", rewriteAtan2},
};

llvm::ArrayRef<Row> trigonometryRows() { return kTrigonometryRows; }

} // namespace ptl::ir::legalize
