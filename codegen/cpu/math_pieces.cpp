#include "codegen/cpu/math_pieces.h"

#include <cmath>

using namespace mlir;
using arith::CmpFPredicate;

namespace ptl::cpu {

// P(x), `c` its coefficients and `x2` the square of x. Pairs of terms are summed beside each other, since vectors wait longer for a
// chain of steps than for their number.
static Value sumInPairs(const Emit &e, Value x, Value x2, ArrayRef<double> c) {
  auto constant = [&](size_t i) { return e.real(x.getType(), c[i]); };
  Value sum;
  for (size_t pair = (c.size() + 1) / 2; pair-- > 0;) {
    Value term = 2 * pair + 1 < c.size() ? e.fma(constant(2 * pair + 1), x, constant(2 * pair))
                                         : constant(2 * pair);
    sum = sum ? e.fma(sum, x2, term) : term;
  }
  return sum;
}

// A vector of `f64` takes two registers, so few iterations of a loop are in flight to fill a chain with.
static constexpr size_t kLongChain = 4;

Value polynomial(const Emit &e, Value x, ArrayRef<double> c) {
  if (isF64(x) && c.size() > kLongChain)
    return sumInPairs(e, x, e.mul(x, x), c);
  Value result = e.real(x.getType(), c.back());
  for (double coefficient : llvm::reverse(c.drop_back()))
    result = e.fma(result, x, e.real(x.getType(), coefficient));
  return result;
}

Value tailInPairs(const Emit &e, Value x, Value x2, ArrayRef<double> c) {
  return e.fma(sumInPairs(e, x, x2, c), x2, x);
}

Value shiftSigned(const Emit &e, Value x, int64_t amount) {
  return e.b.createOrFold<arith::ShRSIOp>(e.loc, x, e.integer(x.getType(), amount));
}

// Adding and subtracting 1.5 * 2^(mantissa bits) rounds to an integer and leaves that integer in
// the low bits of the sum.
Rounded roundToInteger(const Emit &e, Value x, double scale) {
  // The constants are 1.5 * 2^52 and 1.5 * 2^23.
  bool wide = isF64(x);
  double magic = wide ? 6755399441055744.0 : 12582912.0;
  Value shifter = e.real(x.getType(), magic);
  Value sum = e.fma(x, e.real(x.getType(), scale), shifter);
  Type integer = wide ? Type(e.b.getI64Type()) : Type(e.b.getI32Type());
  Value bits = e.sub(e.bitcast(sum, integer), e.bitcast(shifter, integer));
  return {e.sub(sum, shifter), bits};
}

Value powerOfTwo(const Emit &e, Value exponent) {
  bool wide = scalarOf(exponent.getType()).isInteger(64);
  int64_t bias = wide ? 1023 : 127;
  // A float whose fraction is 0 is a power of two, by its exponent field alone.
  Value biased = e.add(exponent, e.integer(exponent.getType(), bias));
  return e.bitcast(e.shl(biased, wide ? 52 : 23),
                   wide ? Type(e.b.getF64Type()) : Type(e.b.getF32Type()));
}

Value clamp(const Emit &e, Value x, double low, double high) {
  Value top = e.select(e.cmpf(CmpFPredicate::OGT, x, high), e.real(x.getType(), high), x);
  return e.select(e.cmpf(CmpFPredicate::OLT, top, low), e.real(x.getType(), low), top);
}

Value exp2Wide(const Emit &e, Value x) {
  Rounded n = roundToInteger(e, x, 1.0);
  Value power = polynomial(e, e.sub(x, n.value),
                           {1.0, 0.693147180545911, 0.24022650695812833, 0.05550410941295717,
                            0.009618129159464759, 0.0013333450481819327, 0.00015403455792749644,
                            1.531010238038351e-05, 1.3255240797206966e-06});
  return e.mul(power, powerOfTwo(e, n.bits));
}

Value logWide(const Emit &e, Value x, double scale) {
  Type i64 = e.b.getI64Type();
  Value bits = e.bitcast(x, i64);
  // Mantissa in [sqrt(1/2), sqrt(2)): subtracting the bits of sqrt(1/2) carries into the exponent.
  Value offset = e.integer(bits.getType(), 0x3fe6a09e667f3bcd);
  Value shifted = e.sub(bits, offset);
  Value exponent = shiftSigned(e, shifted, 52);
  Value mantissa = e.bitcast(e.sub(bits, e.shl(exponent, 52)), e.b.getF64Type());
  Value one = e.real(x.getType(), 1.0);
  Value s = e.divf(e.sub(mantissa, one), e.add(mantissa, one));
  Value z = e.mul(s, s);
  // log(m) = 2 * atanh(s), a series of odd powers.
  SmallVector<double> atanh = {1.999999999999947,  0.6666666667964496,  0.3999999487097937,
                               0.2857216841420338, 0.22174150798053732, 0.19609592365158407};
  for (double &coefficient : atanh)
    coefficient *= scale;
  Value fraction = e.mul(s, polynomial(e, z, atanh));
  return e.fma(e.sitofp(exponent, e.b.getF64Type()), e.real(x.getType(), Ln2 * scale), fraction);
}

Value logEdges(const Emit &e, Value x, Value result, double zeroAt) {
  Type t = x.getType();
  result = e.select(e.cmpf(CmpFPredicate::OEQ, x, zeroAt), e.real(t, -Infinity), result);
  // This unordered comparison also catches NaN, whose payload is restored below.
  result = e.select(e.cmpf(CmpFPredicate::ULT, x, zeroAt), e.real(t, std::nan("")), result);
  result = e.select(e.cmpf(CmpFPredicate::OEQ, x, Infinity), x, result);
  return e.select(e.isNan(x), x, result);
}

TwoParts sumInParts(const Emit &e, Value x, Value y) {
  Value high = e.add(x, y);
  return {high, e.sub(y, e.sub(high, x))};
}

TwoParts productInParts(const Emit &e, Value x, Value y) {
  Value high = e.mul(x, y);
  return {high, e.fma(x, y, e.neg(high))};
}

TwoParts productInParts(const Emit &e, TwoParts x, TwoParts y) {
  TwoParts exact = productInParts(e, x.high, y.high);
  return {exact.high, e.fma(x.high, y.low, e.fma(x.low, y.high, exact.low))};
}

Value unlessAny(const Emit &e, Value rare, Value result,
                llvm::function_ref<Value(const Emit &)> otherwise) {
  Value any = rare;
  if (isa<VectorType>(rare.getType()))
    any = e.b.create<vector::ReductionOp>(e.loc, vector::CombiningKind::OR, rare);
  return e.branch(
      any, result.getType(), [&](const Emit &slow) { return SmallVector<Value>{otherwise(slow)}; },
      [&](const Emit &) { return SmallVector<Value>{result}; })[0];
}

bool hasTables(const Emit &e, Value x) {
  auto vector = dyn_cast<VectorType>(x.getType());
  return vector && e.unit.scalesByPowers && vector.getNumElements() == 16 && !isF64(x);
}

Value scaleAtOnce(const Emit &e, Value value, Value exponent) {
  Value all = e.integer(e.b.getI16Type(), -1), asRounded = e.i32(4); // as the rounding mode says
  return e.intrinsic("llvm.x86.avx512.mask.scalef.ps.512", value.getType(),
                     {value, exponent, value, all, asRounded});
}

Value fromTable(const Emit &e, Type type, ArrayRef<float> table, Value bits) {
  Value numbers =
      e.b.create<arith::ConstantOp>(e.loc, DenseElementsAttr::get(cast<VectorType>(type), table));
  return e.intrinsic("llvm.x86.avx512.permvar.sf.512", type, {numbers, bits});
}

std::array<float, 16> powersOfTwo(bool rests) {
  std::array<float, 16> table;
  for (int j = 0; j < 16; ++j) {
    double power = std::exp2(j / 16.0);
    auto nearest = static_cast<float>(power);
    table[j] = rests ? static_cast<float>(power - nearest) : nearest;
  }
  return table;
}

} // namespace ptl::cpu
