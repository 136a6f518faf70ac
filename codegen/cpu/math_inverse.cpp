#include "codegen/cpu/math_inverse.h"

#include "codegen/cpu/math_approx.h"
#include "codegen/cpu/math_double.h"
#include "codegen/cpu/math_pieces.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using arith::CmpFPredicate;

namespace ptl::cpu {

static constexpr double Pi = std::numbers::pi;
// What the nearest f64 lacks of pi.
static constexpr double kPiRest = 1.2246467991473532e-16;

// factor * pi rounded to the type of `like`, and what that lacks.
static std::pair<Value, Value> partsOfPi(const Emit &e, Value like, double factor) {
  double whole = factor * Pi;
  if (isF64(like))
    return {e.real(like.getType(), whole), e.real(like.getType(), factor * kPiRest)};
  auto nearest = static_cast<float>(whole);
  return {e.real(like.getType(), nearest), e.real(like.getType(), whole - nearest)};
}

static Value squareRoot(const Emit &e, Value x) { return e.b.create<math::SqrtOp>(e.loc, x); }

// --- inverse trigonometric -------------------------------------------------------------------------

// atan(x) = x + x * z * P(z), z = x * x, for |x| <= tan(pi / 8).
static Value atanSeries(const Emit &e, Value z) {
  if (isF64(z))
    return polynomial(e, z,
                      {-0.3333333333333333, 0.19999999999999804, -0.14285714285659828,
                       0.11111111105155447, -0.09090908753500877, 0.07692296375032143,
                       -0.06666424885738255, 0.05878928997834775, -0.05230454270650244,
                       0.04551593220626549, -0.034570561981427744, 0.016285756855221028});
  return polynomial(e, z,
                    {-0.3333333176116852, 0.19999540483648964, -0.1426395559798464,
                     0.10743731490791084, -0.06451928208121749});
}

// The angle of the point (along, up) between 0 and pi/2; neither is negative, not both are 0 or infinite, and their sum does not
// overflow.
static Value angle(const Emit &e, Value up, Value along) {
  Type t = up.getType();
  // The quotient is turned by pi/4 or pi/2, so that it is at most tan(pi/8).
  auto isSteeper = [&](double tangent) {
    return e.cmpf(CmpFPredicate::OGT, up, e.mul(along, e.real(t, tangent)));
  };
  Value middle = isSteeper(0.41421356237309503), steep = isSteeper(2.414213562373095);
  Value top = e.select(steep, e.neg(along), e.select(middle, e.sub(up, along), up));
  Value bottom = e.select(steep, up, e.select(middle, e.add(up, along), along));
  Value tangent = e.divf(top, bottom), z = e.mul(tangent, tangent);
  auto [half, halfRest] = partsOfPi(e, up, 0.5);
  auto [quarter, quarterRest] = partsOfPi(e, up, 0.25);
  Value zero = e.zero(t);
  Value turn = e.select(steep, half, e.select(middle, quarter, zero));
  Value rest = e.select(steep, halfRest, e.select(middle, quarterRest, zero));
  Value tail = e.fma(e.mul(tangent, z), atanSeries(e, z), rest);
  return e.add(turn, e.add(tangent, tail));
}

Value emitAtan(const Emit &e, Value x) {
  return e.copySign(angle(e, e.abs(x), e.real(x.getType(), 1.0)), x);
}

Value emitAtan2(const Emit &e, Value y, Value x) {
  Type t = x.getType(), bits = isF64(x) ? e.b.getI64Type() : e.b.getI32Type();
  Value one = e.real(t, 1.0), up = e.abs(y), along = e.abs(x);
  // Of two infinities the angle is that of (1, 1), of two zeros that of (1, 0).
  auto both = [&](double value) {
    return e.bitAnd(e.cmpf(CmpFPredicate::OEQ, up, value),
                    e.cmpf(CmpFPredicate::OEQ, along, value));
  };
  Value infinite = both(Infinity), zeros = both(0.0);
  // The sum of large numbers would overflow; what is lost of small ones beside them does not count.
  double limit = isF64(x) ? 0x1p1000 : 0x1p120;
  Value large =
      e.bitOr(e.cmpf(CmpFPredicate::OGT, up, limit), e.cmpf(CmpFPredicate::OGT, along, limit));
  Value factor = e.select(large, e.real(t, 0.25), one);
  up = e.select(infinite, one, e.mul(up, factor));
  along = e.select(e.bitOr(infinite, zeros), one, e.mul(along, factor));
  Value result = angle(e, up, along);
  auto [pi, piRest] = partsOfPi(e, x, 1.0);
  Value negative = e.cmpi(arith::CmpIPredicate::slt, e.bitcast(x, bits), 0);
  result = e.select(negative, e.sub(pi, e.sub(result, piRest)), result);
  result = e.copySign(result, y);
  return e.select(e.cmpf(CmpFPredicate::UNO, x, y), e.add(x, y), result);
}

namespace {
/// asin(|x|) = s + s * tail where |x| is at most 1/2, else pi/2 - 2 * (s + s * tail).
struct ReducedAsin {
  Value large, s, tail;
};
} // namespace

static ReducedAsin reduceAsin(const Emit &e, Value x) {
  Type t = x.getType();
  Value magnitude = e.abs(x);
  Value large = e.cmpf(CmpFPredicate::OGT, magnitude, 0.5);
  // A NaN fails the comparison; the root of a negative number makes one of what is beyond 1.
  Value half = e.mul(e.sub(e.real(t, 1.0), magnitude), e.real(t, 0.5));
  Value z = e.select(large, half, e.mul(magnitude, magnitude));
  Value s = e.select(large, squareRoot(e, half), magnitude);
  Value series = isF64(x)
                     ? polynomial(e, z,
                                  {0.16666666666666669, 0.07499999999998433, 0.04464285714635543,
                                   0.030381944138531247, 0.02237217294214989, 0.017352392720869973,
                                   0.013971212973552933, 0.011479177415184906, 0.01032281435018578,
                                   0.005457506718640358, 0.01740087944269402, -0.014851887071247204,
                                   0.028757851367421566})
                     : polynomial(e, z,
                                  {0.16666666337430908, 0.07500094543497424, 0.04459940152851218,
                                   0.03110066273549457, 0.017149238357677253, 0.03369084720283012});
  return {large, s, e.mul(z, series)};
}

Value emitAsin(const Emit &e, Value x) {
  ReducedAsin a = reduceAsin(e, x);
  Value small = e.fma(a.s, a.tail, a.s);
  // The large terms are subtracted first.
  auto [half, halfRest] = partsOfPi(e, x, 0.5);
  Value two = e.add(a.s, a.s);
  Value far = e.add(e.sub(half, two), e.fma(e.neg(two), a.tail, halfRest));
  return e.copySign(e.select(a.large, far, small), x);
}

Value emitAcos(const Emit &e, Value x) {
  ReducedAsin a = reduceAsin(e, x);
  auto [half, halfRest] = partsOfPi(e, x, 0.5);
  auto [pi, piRest] = partsOfPi(e, x, 1.0);
  Value signedS = e.copySign(a.s, x);
  Value small = e.sub(half, e.sub(e.fma(signedS, a.tail, signedS), halfRest));
  Value two = e.add(a.s, a.s), far = e.fma(two, a.tail, two);
  Value back = e.add(e.sub(pi, two), e.fma(e.neg(two), a.tail, piRest));
  Value negative = e.cmpf(CmpFPredicate::OLT, x, 0.0);
  return e.select(a.large, e.select(negative, back, far), small);
}

// --- hyperbolic ----------------------------------------------------------------------------------

// exp(x) / 2 and exp(-x) / 2.
static std::pair<Value, Value> halvesOfExp(const Emit &e, Value x) {
  Value half = emitHalfExp(e, x);
  return {half, e.divf(e.real(x.getType(), 0.25), half)};
}

Value emitCosh(const Emit &e, Value x) {
  // Halves are added because exp(x) itself overflows before its half does.
  auto [up, down] = halvesOfExp(e, e.abs(x));
  return e.add(up, down);
}

Value emitSinh(const Emit &e, Value x) {
  Value magnitude = e.abs(x), z = e.mul(x, x);
  auto [up, down] = halvesOfExp(e, magnitude);
  // Near 0 the difference would cancel.
  Value series =
      isF64(x) ? polynomial(e, z,
                            {0.16666666666666666, 0.008333333333333333, 0.00019841269841269773,
                             2.755731922404034e-06, 2.505210836405804e-08, 1.6059048396350562e-10,
                             7.646625361656657e-13, 2.8445264169895285e-15})
               : polynomial(e, z,
                            {0.16666666646842135, 0.00833333967591706, 0.00019838101968683888,
                             2.8062802582276946e-06});
  Value near = e.fma(e.mul(magnitude, z), series, magnitude);
  Value isNear = e.cmpf(CmpFPredicate::OLT, magnitude, 1.0);
  return e.copySign(e.select(isNear, near, e.sub(up, down)), x);
}

// --- inverse hyperbolic --------------------------------------------------------------------------

// Below this a series has all of `f32`; above, logarithms in double precision have it.
static constexpr double kNear = 0.03125;

Value emitAsinh(const Emit &e, Value x) {
  Value magnitude = e.abs(x), z = e.mul(magnitude, magnitude);
  Type t = x.getType();
  Value result;
  if (isF64(x)) {
    Value one = e.real(t, 1.0);
    Value root = squareRoot(e, e.add(z, one));
    Value near = emitLog1pF64(e, e.add(magnitude, e.divf(z, e.add(root, one))));
    // The square of large numbers overflows, and 1 does not count beside it.
    Value far = e.add(emitLogF64(e, magnitude), e.real(t, Ln2));
    result = e.select(e.cmpf(CmpFPredicate::OGT, magnitude, 0x1p28), far, near);
    // Subnormal numbers and NaN pass through.
    result = e.select(e.cmpf(CmpFPredicate::OLT, magnitude, 0x1p-28), magnitude, result);
  } else {
    Value near = polynomial(e, z, {-1.0 / 6, 3.0 / 40, -15.0 / 336});
    near = e.fma(e.mul(magnitude, z), near, magnitude);
    Value wide = e.extf(magnitude, e.b.getF64Type());
    Value root = squareRoot(e, e.fma(wide, wide, e.real(wide.getType(), 1.0)));
    Value far = e.truncf(logWide(e, e.add(wide, root), 1.0), e.b.getF32Type());
    result = e.select(e.cmpf(CmpFPredicate::OLT, magnitude, kNear), near, far);
    result = e.select(e.cmpf(CmpFPredicate::ULT, magnitude, Infinity), result, magnitude);
    result = e.select(e.isNan(x), x, result);
  }
  return e.copySign(result, x);
}

Value emitAcosh(const Emit &e, Value x) {
  Type t = x.getType();
  if (isF64(x)) {
    Value above = e.sub(x, e.real(t, 1.0));
    Value root = squareRoot(e, e.fma(above, above, e.add(above, above)));
    Value far = e.add(emitLogF64(e, x), e.real(t, Ln2));
    Value result =
        e.select(e.cmpf(CmpFPredicate::OGT, x, 0x1p28), far, emitLog1pF64(e, e.add(above, root)));
    return e.select(e.cmpf(CmpFPredicate::OLT, x, 1.0), e.real(t, std::nan("")), result);
  }
  Value wide = e.extf(x, e.b.getF64Type()), one = e.real(wide.getType(), 1.0);
  Value root = squareRoot(e, e.mul(e.sub(wide, one), e.add(wide, one)));
  Value result = e.truncf(logWide(e, e.add(wide, root), 1.0), e.b.getF32Type());
  result = e.select(e.cmpf(CmpFPredicate::OEQ, x, Infinity), x, result);
  // There is no result below 1; a NaN passes through.
  result = e.select(e.cmpf(CmpFPredicate::OLT, x, 1.0), e.real(t, std::nan("")), result);
  return e.select(e.isNan(x), x, result);
}

Value emitAtanh(const Emit &e, Value x) {
  Type t = x.getType();
  Value magnitude = e.abs(x), one = e.real(t, 1.0);
  if (isF64(x)) {
    Value quotient = e.divf(e.add(magnitude, magnitude), e.sub(one, magnitude));
    return e.copySign(e.mul(emitLog1pF64(e, quotient), e.real(t, 0.5)), x);
  }
  Value z = e.mul(magnitude, magnitude);
  Value near = e.fma(e.mul(magnitude, z), polynomial(e, z, {1.0 / 3, 1.0 / 5, 1.0 / 7}), magnitude);
  Value wide = e.extf(magnitude, e.b.getF64Type()), wideOne = e.real(wide.getType(), 1.0);
  Value quotient = e.divf(e.add(wideOne, wide), e.sub(wideOne, wide));
  Value far = e.truncf(logWide(e, quotient, 0.5), e.b.getF32Type());
  Value result = e.select(e.cmpf(CmpFPredicate::OLT, magnitude, kNear), near, far);
  result = e.select(e.cmpf(CmpFPredicate::OEQ, magnitude, 1.0), e.real(t, Infinity), result);
  result = e.select(e.cmpf(CmpFPredicate::OGT, magnitude, 1.0), e.real(t, std::nan("")), result);
  return e.copySign(e.select(e.isNan(x), x, result), x);
}

} // namespace ptl::cpu
