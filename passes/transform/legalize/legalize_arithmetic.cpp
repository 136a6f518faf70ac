// Arithmetic, bit operations, limits.
#include "passes/transform/legalize/legalize_arithmetic.h"
#include "passes/transform/legalize/legalize_comparison.h"
#include "passes/transform/legalize/legalize_wide.h"

#include "ir/dialect/op_facts.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ptl::ir::legalize {

// ---- element types without arithmetic -----------------------------------------------------------

/// Words of another signedness, which the operation does not look at.
static Value onSignedWords(const Tiles &t, Operation *op, Type type) {
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(t.bitcast(operand, t.bitsOf(type)));
  return t.bitcast(t.make(op->getName().getStringRef(), t.bitsOf(type), operands,
                          llvm::SmallVector<NamedAttribute>(op->getAttrs())),
                   type);
}

/// The same on wider integers; the result wraps back.
static Value onWiderIntegers(const Tiles &t, Operation *op, Type wide) {
  // Sums and products are right modulo 2^n in any wider type.
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(t.convert(operand, wide));
  return t.convert(t.make(op->getName().getStringRef(), wide, operands,
                          llvm::SmallVector<NamedAttribute>(op->getAttrs())),
                   elem(op->getResult(0)));
}

/// Sums, differences, products and bit operations wrap alike in any width and signedness.
static Value onOtherIntegers(const Tiles &t, Operation *op, Type type) {
  switch (intBits(type)) {
  case 8:
    return onWiderIntegers(t, op, t.i16());
  case 16:
  case 32:
    return isUnsigned(type) ? onSignedWords(t, op, type) : Value();
  default:
    return {};
  }
}

// ---- binary operations with instructions --------------------------------------------------------

static bool commutes(Operation *op) { return loweringOf(op)->swapped == opIdOf(op); }

/// Axes of the result along which an operand repeats.
static size_t repeatedAxes(llvm::ArrayRef<Extent> extents, Value x) {
  llvm::ArrayRef<Extent> own = extentsOf(x.getType());
  size_t count = 0;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    size_t behind = extents.size() - axis;
    count += !extents[axis].isOne() && (own.size() < behind || own[own.size() - behind].isOne());
  }
  return count;
}

/// The instructions that combine a tile with one column or one row need the other one whole.
static Value withOneFullOperand(const Tiles &t, Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (!isArray(a) || !isArray(b))
    return {};
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  size_t lacksA = repeatedAxes(extents, a), lacksB = repeatedAxes(extents, b);
  Type type = elem(op->getResult(0));
  if (lacksA == 0) {
    size_t all = llvm::count_if(extents, [](const Extent &extent) { return !extent.isOne(); });
    if (lacksB < 2 || lacksB < all)
      return {};
    // The instruction repeats along one axis, and a single element lacks two: it is made a row first, along the last axis that has more
    // than one position.
    llvm::SmallVector<Extent> row(extents.size(), Extent::constant(1));
    size_t along = extents.size() - 1;
    while (extents[along].isOne())
      --along;
    row[along] = extents[along];
    return t.cloneWith(op, {a, t.spread(b, row, a)}, type);
  }
  // If the operation commutes, the full operand is put first.
  if (lacksB == 0 && commutes(op))
    return t.make(op->getName().getStringRef(), type, {b, a});
  // Neither is full, so the one that lacks fewer axes is made so.
  bool spreadsA = lacksB == 0 || lacksA <= lacksB;
  Value whole = t.spread(spreadsA ? a : b, extents, op->getOperands());
  llvm::SmallVector<Value> operands = {spreadsA ? whole : a, spreadsA ? b : whole};
  return t.cloneWith(op, operands, type);
}

static Value flipTop(const Tiles &t, Value x) {
  return t.bitXor(x, -std::ldexp(1.0, static_cast<int>(intBits(elem(x))) - 1));
}

/// Extremes of unsigned words are those of signed ones with the top bit inverted.
static Value extremeOfWords(const Tiles &t, Operation *op, Type type) {
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(flipTop(t, t.bitcast(operand, t.bitsOf(type))));
  return t.bitcast(flipTop(t, t.make(op->getName().getStringRef(), t.bitsOf(type), operands)),
                   type);
}

static Value rewriteBinary(const Tiles &t, Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  Type type = elem(a);
  const VectorForms &forms = loweringOf(op)->forms;
  // bf16 is computed in `f32`, whatever instructions there are.
  bool takes = !type.isBF16() && t.target.has(instructionInfo(*forms.tiles).mnemonic, type);
  bool scalar = !isArray(a) || !isArray(b);
  if (takes && scalar)
    takes = t.target.has(instructionInfo(*forms.scalar).mnemonic, type);
  if (!takes && isReal(type))
    return onWiderFloats(t, op);
  bool extreme = isa<MaxOp, MinOp>(op);
  if (!takes && extreme && isUnsigned(type) && intBits(type) > 8 && intBits(type) <= 32)
    return extremeOfWords(t, op, type);
  if (!takes && extreme && isWide(t, type))
    return extremeWide(t, op);
  if (!takes && isWide(t, type)) // sums and differences are lowered word by word
    return isa<MulOp>(op) ? multiplyWide(t, isArray(a) ? a : b, isArray(a) ? b : a)
                          : withFullOperands(t, op);
  if (!takes)
    return onOtherIntegers(t, op, type);
  // Instructions with a scalar take it as the second operand.
  if (!isArray(a) && commutes(op))
    return t.make(op->getName().getStringRef(), type, {b, a});
  if (!isArray(a) && isa<SubOp>(op))
    // s - x is written as -x + s.
    return t.add(t.neg(b), a);
  return withOneFullOperand(t, op);
}

static Value rewriteNeg(const Tiles &t, Operation *op) {
  Type type = elem(op->getOperand(0));
  if (!type.isBF16() && t.target.has("tneg", type))
    return {};
  if (isWide(t, type))
    return t.sub(t.number(type, 0), op->getOperand(0));
  return isReal(type) ? onWiderFloats(t, op) : onOtherIntegers(t, op, type);
}

// ---- division of integers -----------------------------------------------------------------------

/// Signed integers of 32 or 64 bits by quotients in `f32`: each leaves an error below 2^-22 of what it divides, the last
/// one of at most a single divisor, which masks take away. Only wrapping sums and products occur.
static std::pair<Value, Value> divideSigned(const Tiles &t, Value a, Value b) {
  Type type = elem(a);
  int top = static_cast<int>(intBits(type)) - 1, more = top / 22;
  Value divisor = t.convert(b, t.f32());
  auto quotient = [&](Value x) {
    return t.convert(t.div(t.convert(x, t.f32()), divisor), type, "zero");
  };
  Value q = quotient(a);
  Value rest = t.sub(a, t.mul(q, b));
  // What a quotient leaves is so much smaller that the last one is nearly exact.
  for (; more > 0; --more) {
    Value next = quotient(rest);
    rest = t.sub(rest, t.mul(next, b));
    q = t.add(q, next);
  }
  // A shift by all bits but one copies the sign to all of them: -1 for negative numbers, else 0.
  Value signA = t.shr(a, top), signB = t.shr(b, top);
  Value sign = t.bitXor(signA, signB);
  // x xor m minus m is -x where m is -1 and x where it is 0.
  auto negateIf = [&](Value x, Value mask) { return t.sub(t.bitXor(x, mask), mask); };
  Value size = negateIf(b, signB);
  // The correction works on sizes; signs come back at the end.
  Value r = negateIf(rest, signA), m = negateIf(q, sign);
  // A rest below 0 means one divisor too many, and one of at least the divisor one too few.
  Value below = t.shr(r, top);
  r = t.add(r, t.bitAnd(below, size));
  m = t.add(m, below);
  Value above = t.bitNot(t.shr(t.sub(r, size), top));
  r = t.sub(r, t.bitAnd(above, size));
  m = t.sub(m, above);
  return {negateIf(m, sign), negateIf(r, signA)};
}

/// -1 where `a` is below `b`, both taken without a sign, else 0.
static Value belowUnsigned(const Tiles &t, Value a, Value b) {
  Value notA = t.bitNot(a);
  // This is the borrow of a - b, of which the top bit is the comparison.
  Value borrow = t.bitOr(t.bitAnd(notA, b), t.bitAnd(t.bitNot(t.bitXor(a, b)), t.sub(a, b)));
  return t.shr(borrow, static_cast<int>(intBits(elem(a))) - 1);
}

/// Without signs: half of the dividend has none, and the last bit is one comparison.
static std::pair<Value, Value> divideUnsigned(const Tiles &t, Value a, Value b) {
  Value half = divideSigned(t, t.shrUnsigned(a, 1), b).first;
  // A divisor with its first bit set goes into nothing more than once.
  Value huge = t.shr(b, static_cast<int>(intBits(elem(b))) - 1);
  Value q = t.bitAnd(t.shl(half, 1), t.bitNot(huge));
  Value rest = t.sub(a, t.mul(q, b));
  // The rest may still hold the divisor once, since the last bit of a was left out.
  Value once = t.bitNot(belowUnsigned(t, rest, b));
  return {t.sub(q, once), t.sub(rest, t.bitAnd(once, b))};
}

std::pair<Value, Value> divideIntegers(const Tiles &t, Value a, Value b) {
  Type type = elem(a);
  unsigned bits = intBits(type);
  if (bits == 0 || (bits > 32 && !isWide(t, type)))
    return {};
  if (bits >= 32) {
    if (!isUnsigned(type))
      return divideSigned(t, a, b);
    auto [q, r] = divideUnsigned(t, t.bitcast(a, t.bitsOf(type)), t.bitcast(b, t.bitsOf(type)));
    return {t.bitcast(q, type), t.bitcast(r, type)};
  }
  // The quotient of two short integers is never as near to the next one as a rounding of `f32`.
  Value x = t.convert(a, t.f32()), y = t.convert(b, t.f32());
  Value q = t.convert(t.div(x, y), t.i32(), "zero");
  Value r = t.sub(t.convert(a, t.i32()), t.mul(q, t.convert(b, t.i32())));
  return {t.convert(q, type), t.convert(r, type)};
}

/// Both operands as tiles of the result's extents.
static std::pair<Value, Value> wholeOperands(const Tiles &t, Operation *op) {
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  return {t.spread(op->getOperand(0), extents, op->getOperands()),
          t.spread(op->getOperand(1), extents, op->getOperands())};
}

static Value rewriteDiv(const Tiles &t, Operation *op) {
  Type type = elem(op->getOperand(0));
  if (isReal(type) || t.target.has("tdiv", type))
    return rewriteBinary(t, op);
  auto [a, b] = wholeOperands(t, op);
  return divideIntegers(t, a, b).first;
}

/// a - b * trunc(a / b) with an exact product: the quotient is off by one at most below 2^22.
static Value remainderOfFloats(const Tiles &t, Value a, Value b) {
  Value x = t.abs(a), y = t.abs(b);
  Value q = t.trunc(t.div(x, y));
  // Halves of 12 bits have exact products.
  // -4096 clears the low 12 of the 24 bits of the significand.
  auto head = [&](Value v) { return t.bitcast(t.bitAnd(t.bitcast(v, t.i32()), -4096), t.f32()); };
  Value qh = head(q), ql = t.sub(q, qh), yh = head(y), yl = t.sub(y, yh);
  Value r =
      t.sub(t.sub(t.sub(t.sub(x, t.mul(qh, yh)), t.mul(qh, yl)), t.mul(ql, yh)), t.mul(ql, yl));
  // The quotient may be off by one in either direction.
  r = t.select(t.lt(r, 0), t.add(r, y), r);
  r = t.select(t.ge(r, y), t.sub(r, y), r);
  r = t.select(t.lt(x, y), x, r);
  r = t.select(t.lt(a, 0), t.neg(r), r);
  // Infinite dividends and divisors of 0 have no remainder.
  Value legal = t.both(t.lt(x, kInfinity), t.gt(y, 0));
  return t.select(legal, r, kNan);
}

static Value rewriteRem(const Tiles &t, Operation *op) {
  Type type = elem(op->getOperand(0));
  auto [a, b] = wholeOperands(t, op);
  if (!isReal(type))
    return divideIntegers(t, a, b).second;
  if (Value wide = onWiderFloats(t, op))
    return wide;
  bool takes = t.target.has("tfmod", type) && t.target.has("tfmods", type);
  if (!takes)
    return type.isF32() ? remainderOfFloats(t, a, b) : Value();
  return isArray(op->getOperand(0)) ? withFullOperands(t, op)
                                    : t.cloneWith(op, {a, op->getOperand(1)}, type);
}

static Value rewriteCdiv(const Tiles &t, Operation *op) {
  Type type = elem(op->getOperand(0));
  auto [a, b] = wholeOperands(t, op);
  unsigned bits = intBits(type);
  // Rounding up may overflow the short type in between, so it is done in 32 bits.
  if (bits == 8 || bits == 16) {
    llvm::SmallVector<Value> operands = {t.convert(a, t.i32()), t.convert(b, t.i32())};
    return t.convert(t.make(CdivOp::getOperationName(), t.i32(), operands), type);
  }
  auto [q, r] = divideIntegers(t, a, b);
  if (!q)
    return {};
  Type own = t.bitsOf(type);
  int top = static_cast<int>(bits) - 1;
  Value rest = t.bitcast(r, own);
  // Of r and -r one is negative unless both are 0.
  Value up = t.shr(t.bitOr(rest, t.neg(rest)), top); // -1 unless the remainder is 0
  // Truncation already rounds up where the signs differ.
  if (!isUnsigned(type))
    up = t.bitAnd(up, t.bitNot(t.shr(t.bitXor(a, b), top)));
  return t.bitcast(t.sub(t.bitcast(q, own), up), type);
}

// ---- bits and shifts ----------------------------------------------------------------------------

static Value rewriteBits(const Tiles &t, Operation *op) {
  if (isBool(elem(op->getOperand(0))))
    return rewriteMaskOp(t, op);
  if (!isArray(op->getOperand(0)))
    return t.make(op->getName().getStringRef(), elem(op->getResult(0)),
                  {op->getOperand(1), op->getOperand(0)});
  return withFullOperands(t, op);
}

/// Counts beyond the width shift everything out; the instructions know legal ones only.
static Value rewriteShift(const Tiles &t, Operation *op) {
  Type type = elem(op->getOperand(0));
  unsigned bits = intBits(type);
  if (bits == 8)
    return onWiderIntegers(t, op, isUnsigned(type) ? Type(t.r.getIntegerType(16, false)) : t.i16());
  if (bits != 16 && bits != 32)
    return {};
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  Value x = t.spread(op->getOperand(0), extents, op->getOperands()), count = op->getOperand(1);
  bool left = isa<ShlOp>(op), keepsSign = !left && !isUnsigned(type);
  double last = bits - 1;
  // A known count needs no comparison at run time.
  if (std::optional<double> known = constantOf(count)) {
    bool legal = *known >= 0 && *known <= last;
    // Shifting by the full width leaves nothing, or copies of the sign.
    if (!legal && !keepsSign)
      return t.full(t.number(type, 0), x);
    int by = legal ? static_cast<int>(*known) : static_cast<int>(last);
    return left ? t.shl(x, by) : t.shr(x, by);
  }
  // Signed numbers are compared, because machines do not compare those without a sign as they are. A count
  // that is negative as a signed number is beyond the width as one without a sign.
  count = t.bitcast(t.spread(count, extents, op->getOperands()), t.bitsOf(type));
  // The count is limited first, since the instruction is undefined beyond the width.
  Value limited = t.min(t.max(count, 0), last), legal = t.eq(limited, count);
  auto shifted = [&](Value by) {
    return left ? t.shl(x, t.bitcast(by, type)) : t.shr(x, t.bitcast(by, type));
  };
  if (keepsSign)
    return shifted(t.select(legal, limited, last));
  return t.bitcast(t.select(legal, t.bitcast(shifted(limited), t.bitsOf(type)), 0), type);
}

// ---- signs and limits ---------------------------------------------------------------------------

static Value rewriteAbs(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  if (isUnsigned(elem(x)))
    return x;
  if (isReal(elem(x)))
    return t.target.has("tabs", elem(x)) ? Value() : onWiderFloats(t, op);
  if (isWide(t, elem(x)))
    return absoluteWide(t, x);
  // The smallest number stays as it is, as wrapping says.
  return intBits(elem(x)) <= 32 ? t.max(x, t.neg(x)) : Value();
}

static Value rewriteSign(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  if (isWide(t, elem(x)))
    return signWide(t, x);
  if (!isReal(elem(x)))
    return intBits(elem(x)) <= 32 ? t.max(t.min(x, 1), isUnsigned(elem(x)) ? 0 : -1) : Value();
  if (Value wide = onWiderFloats(t, op))
    return wide;
  // Selecting x itself keeps zeros and NaN.
  Value positive = t.select(t.gt(x, 0), t.number(elem(x), 1), x);
  return t.select(t.lt(x, 0), t.number(elem(x), -1), positive);
}

static Value rewriteClamp(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0), low = op->getOperand(1), high = op->getOperand(2);
  // f16 has the instructions itself; other short floats go through `f32`.
  if (isReal(elem(x)) && !elem(x).isF16())
    if (Value wide = onWiderFloats(t, op))
      return wide;
  Value limited = t.min(t.max(x, low), high);
  return isReal(elem(x)) ? t.select(t.ne(x, x), x, limited) : limited;
}

/// NaN in either operand stays; of two zeros the sign decides.
template <bool Larger> static Value rewriteExtremeNan(const Tiles &t, Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  Type type = elem(a);
  if (!isReal(type))
    return Larger ? t.max(a, b) : t.min(a, b);
  if (Value wide = type.isF16() ? Value() : onWiderFloats(t, op))
    return wide;
  std::tie(a, b) = wholeOperands(t, op);
  Value bitsA = t.bitcast(a, t.bitsOf(type)), bitsB = t.bitcast(b, t.bitsOf(type));
  // Equal operands differ at most in the sign of zero: and gives +0, or gives -0.
  Value zero = t.bitcast(Larger ? t.bitAnd(bitsA, bitsB) : t.bitOr(bitsA, bitsB), type);
  Value result = t.select(t.eq(a, b), zero, Larger ? t.max(a, b) : t.min(a, b));
  // NaN is chosen last, since comparisons with it are false.
  return t.select(t.ne(a, a), a, t.select(t.ne(b, b), b, result));
}

static Value rewriteCopysign(const Tiles &t, Operation *op) {
  Type type = elem(op->getOperand(0));
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 8)
    return onWiderFloats(t, op);
  if (width != 16 && width != 32)
    return {};
  auto [a, b] = wholeOperands(t, op);
  double top = -std::ldexp(1.0, static_cast<int>(width) - 1);
  Type bits = t.bitsOf(type);
  return t.bitcast(
      t.bitOr(t.bitAnd(t.bitcast(a, bits), -top - 1), t.bitAnd(t.bitcast(b, bits), top)), type);
}

// ---- sums of products ---------------------------------------------------------------------------

/// One rounding without such an instruction, by Dekker's product and Knuth's TwoSum: the error of the product is exact in `f32`, and so is
/// that of the sum; both go in at the end.
static Value rewriteFma(const Tiles &t, Operation *op) {
  if (Value wide = onWiderFloats(t, op))
    return wide;
  Value a = op->getOperand(0), b = op->getOperand(1), c = op->getOperand(2);
  if (!elem(a).isF32())
    return {};
  // The same split as in `remainderOfFloats`.
  auto head = [&](Value v) { return t.bitcast(t.bitAnd(t.bitcast(v, t.i32()), -4096), t.f32()); };
  Value product = t.mul(a, b);
  Value ah = head(a), al = t.sub(a, ah), bh = head(b), bl = t.sub(b, bh);
  Value error = t.add(t.add(t.add(t.sub(t.mul(ah, bh), product), t.mul(ah, bl)), t.mul(al, bh)),
                      t.mul(al, bl));
  // TwoSum: the parts that the sum lost of each operand, without knowing which is larger.
  Value sum = t.add(product, c);
  Value back = t.sub(sum, product);
  Value sumError = t.add(t.sub(product, t.sub(sum, back)), t.sub(c, back));
  Value exact = t.add(sum, t.add(sumError, error));
  // Infinities and NaN have no error.
  return t.select(t.eq(exact, exact), exact, sum);
}

static constexpr Row kArithmeticRows[] = {
    {"add", rewriteBinary},
    {"sub", rewriteBinary},
    {"mul", rewriteBinary},
    {"div", rewriteDiv},
    {"rem", rewriteRem},
    {"cdiv", rewriteCdiv},
    {"neg", rewriteNeg},
    {"max", rewriteBinary},
    {"min", rewriteBinary},
    {"bit_and", rewriteBits},
    {"bit_or", rewriteBits},
    {"bit_xor", rewriteBits},
    {"shl", rewriteShift},
    {"shr", rewriteShift},
    {"abs", rewriteAbs},
    {"sign", rewriteSign},
    {"clamp", rewriteClamp},
    {"maxnan", rewriteExtremeNan<true>},
    {"minnan", rewriteExtremeNan<false>},
    {"copysign", rewriteCopysign},
    {"fma", rewriteFma},
};

llvm::ArrayRef<Row> arithmeticRows() { return kArithmeticRows; }

} // namespace ptl::ir::legalize
