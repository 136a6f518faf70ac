#include "passes/lower_block/scalars.h"

#include "ir/dialect/op_facts.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/positive.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

namespace {

/// Computes with scalars. `arith` knows integers without a sign: those that have none are cast to
/// and fro.
class Scalars {
public:
  Scalars(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value plain(Value value) const {
    Type type = value.getType();
    if (!type.isUnsignedInteger())
      return value;
    return cast(value, b.getIntegerType(type.getIntOrFloatBitWidth()));
  }
  Value cast(Value value, Type to) const {
    if (value.getType() == to)
      return value;
    return b.create<UnrealizedConversionCastOp>(loc, to, value).getResult(0);
  }
  Value number(Type type, double value) const {
    if (auto real = dyn_cast<FloatType>(type))
      return b.create<arith::ConstantOp>(loc, b.getFloatAttr(real, value));
    return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(type, static_cast<int64_t>(value)));
  }
  template <typename OpT> Value make(Value a, Value c) const {
    return b.createOrFold<OpT>(loc, a, c);
  }
  template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp>
  Value by(Value a, Value c, bool isUnsigned) const {
    if (isa<FloatType>(a.getType()))
      return make<FloatOp>(a, c);
    return isUnsigned ? make<UnsignedOp>(a, c) : make<SignedOp>(a, c);
  }
  Value select(Value condition, Value a, Value c) const {
    return b.createOrFold<arith::SelectOp>(loc, condition, a, c);
  }
  Value compare(arith::CmpIPredicate word, arith::CmpFPredicate real, Value a, Value c) const {
    if (isa<FloatType>(a.getType()))
      return b.createOrFold<arith::CmpFOp>(loc, real, a, c);
    return b.createOrFold<arith::CmpIOp>(loc, word, a, c);
  }

  Value limited(Value value, bool fromUnsigned, Type to, bool toUnsigned) const;
  Value toInteger(Value value, Type to, bool toUnsigned) const;
  Value convert(Value value, bool fromUnsigned, Type to, bool toUnsigned) const;
  Value whole(Value x, llvm::StringRef round) const;
  Value wholeFloat(Value x, llvm::StringRef round) const;
  Value shift(OpId id, Value a, Value count, bool isUnsigned) const;
  Value compareBy(OpId id, Value a, Value c, bool isUnsigned) const;
  Value bits(OpId id, Value a, Value c, bool isUnsigned) const;
  Value extremeNan(Value a, Value c, bool larger) const;
  Value arithmetic(OpId id, llvm::ArrayRef<Value> in, bool isUnsigned) const;

  OpBuilder &b;
  Location loc;
};

/// An integer within the range of the type `to`, still in its own type.
Value Scalars::limited(Value value, bool fromUnsigned, Type to, bool toUnsigned) const {
  auto widthOf = [](Type type) { return type.isIndex() ? 64U : type.getIntOrFloatBitWidth(); };
  Type from = value.getType();
  // Digits are the bits of a magnitude: in a signed type one bit is the sign.
  unsigned digits = widthOf(from) - (fromUnsigned ? 0 : 1),
           kept = widthOf(to) - (toUnsigned ? 0 : 1);
  auto limit = [&](int64_t bound) {
    return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(from, bound)).getResult();
  };
  if (!fromUnsigned && (toUnsigned || kept < digits))
    value = make<arith::MaxSIOp>(value, limit(toUnsigned ? 0 : -(int64_t(1) << kept)));
  if (kept >= digits) // all magnitudes fit
    return value;
  Value highest = limit(static_cast<int64_t>((uint64_t(1) << kept) - 1));
  return fromUnsigned ? make<arith::MinUIOp>(value, highest) : make<arith::MinSIOp>(value, highest);
}

/// A float without its fraction. Only words of 32 and 64 bits are converted to, and limited here:
/// what C++ makes of a number that a short type cannot hold is undefined.
Value Scalars::toInteger(Value value, Type to, bool toUnsigned) const {
  unsigned bits = to.getIntOrFloatBitWidth();
  // An unsigned integer of 64 bits holds numbers that a signed one lacks, so it has a conversion of
  // its own.
  if (bits == 64 && toUnsigned) {
    // Converting a negative number to an unsigned type is undefined. A printed text has the limit already.
    auto limit = value.getDefiningOp<arith::MaxNumFOp>();
    bool isPositive = limit && matchPattern(limit.getRhs(), m_AnyZeroFloat());
    Value positive = isPositive ? value : make<arith::MaxNumFOp>(value, number(value.getType(), 0));
    return b.createOrFold<arith::FPToUIOp>(loc, to, positive);
  }
  if (bits == 64 || (bits == 32 && !toUnsigned))
    return b.createOrFold<arith::FPToSIOp>(loc, to, value);
  Type wide = b.getIntegerType(bits == 32 ? 64 : 32);
  Value word = b.createOrFold<arith::FPToSIOp>(loc, wide, value);
  return b.createOrFold<arith::TruncIOp>(loc, to, limited(word, false, to, toUnsigned));
}

Value Scalars::convert(Value value, bool fromUnsigned, Type to, bool toUnsigned) const {
  Type from = value.getType();
  if (from == to)
    return value;
  if (to.isInteger(1) && !from.isIndex())
    return compare(arith::CmpIPredicate::ne, arith::CmpFPredicate::UNE, value, number(from, 0));
  // A true condition is 1 and not -1.
  bool wideUnsigned = fromUnsigned || from.isInteger(1);
  if (from.isIndex() || to.isIndex()) {
    if (isa<IntegerType>(from) || isa<IntegerType>(to))
      return wideUnsigned ? b.createOrFold<arith::IndexCastUIOp>(loc, to, value)
                          : b.createOrFold<arith::IndexCastOp>(loc, to, value);
    Type word = b.getI64Type();
    if (to.isIndex())
      return b.createOrFold<arith::IndexCastOp>(loc, to,
                                                b.createOrFold<arith::FPToSIOp>(loc, word, value));
    return b.createOrFold<arith::SIToFPOp>(loc, to,
                                           b.createOrFold<arith::IndexCastOp>(loc, word, value));
  }
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  unsigned bits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (fromFloat && toFloat) {
    // f16 and bf16 have no conversion to each other.
    if (bits == toBits)
      return convert(convert(value, false, b.getF32Type(), false), false, to, false);
    return bits < toBits ? b.createOrFold<arith::ExtFOp>(loc, to, value)
                         : b.createOrFold<arith::TruncFOp>(loc, to, value);
  }
  if (fromFloat)
    return toInteger(value, to, toUnsigned);
  if (toFloat)
    return wideUnsigned ? b.createOrFold<arith::UIToFPOp>(loc, to, value)
                        : b.createOrFold<arith::SIToFPOp>(loc, to, value);
  if (bits >= toBits)
    return bits == toBits ? value : b.createOrFold<arith::TruncIOp>(loc, to, value);
  return wideUnsigned ? b.createOrFold<arith::ExtUIOp>(loc, to, value)
                      : b.createOrFold<arith::ExtSIOp>(loc, to, value);
}

/// A float below 2^63 as a whole number, still a float. Larger ones become 2^63, and NaN 0, which is
/// what converting them gives.
Value Scalars::whole(Value x, llvm::StringRef round) const {
  using F = arith::CmpFPredicate;
  Type type = x.getType();
  // The scalar unit has no rounding, so a number goes through an integer.
  Value word = b.createOrFold<arith::FPToSIOp>(loc, b.getI64Type(), x);
  Value cut = b.createOrFold<arith::SIToFPOp>(loc, type, word);
  auto test = [&](F how, Value a, Value c) {
    return b.createOrFold<arith::CmpFOp>(loc, how, a, c);
  };
  if (round == "zero" || round.empty())
    return cut;
  Value one = number(type, 1), less = make<arith::SubFOp>(cut, one),
        more = make<arith::AddFOp>(cut, one);
  if (round == "down")
    return select(test(F::OGT, cut, x), less, cut);
  if (round == "up")
    return select(test(F::OLT, cut, x), more, cut);
  Value rest = make<arith::SubFOp>(x, cut), half = number(type, 0.5);
  Value size = arithmetic(OpId::Abs, {rest}, false);
  // A tie moves away from zero only if the truncated number is odd.
  Value odd = b.createOrFold<arith::TruncIOp>(loc, b.getI1Type(), word);
  Value tie = test(F::OEQ, size, half);
  Value moves = make<arith::OrIOp>(test(F::OGT, size, half),
                                   round == "away" ? tie : make<arith::AndIOp>(tie, odd));
  return select(moves, select(test(F::OLT, x, number(type, 0)), less, more), cut);
}

/// The same of any float: from 2^62 on, and where it is not finite, it is whole as it stands.
Value Scalars::wholeFloat(Value x, llvm::StringRef round) const {
  Value size = arithmetic(OpId::Abs, {x}, false);
  Value isSmall = compareBy(OpId::Lt, size, number(x.getType(), 0x1p62), false);
  return select(isSmall, whole(x, round), x);
}

/// Counts beyond the width shift everything out, but the sign. The count that the processor gets is
/// limited in a way that is known to be within the width when it is read again from text, so that a
/// shift is guarded once.
Value Scalars::shift(OpId id, Value a, Value count, bool isUnsigned) const {
  bool isLeft = id == OpId::Shl, keepsSign = !isLeft && !isUnsigned;
  auto by = [&](Value bits) {
    return isLeft      ? make<arith::ShLIOp>(a, bits)
           : keepsSign ? make<arith::ShRSIOp>(a, bits)
                       : make<arith::ShRUIOp>(a, bits);
  };
  if (ir::isShiftedWithin(a, count))
    return by(count);
  Type type = a.getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  Value zero = number(type, 0), most = number(type, width - 1);
  Value legal =
      b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, count, number(type, width));
  Value shifted = by(make<arith::MinSIOp>(make<arith::MaxSIOp>(count, zero), most));
  return select(legal, shifted, keepsSign ? by(most) : zero);
}

Value Scalars::compareBy(OpId id, Value a, Value c, bool isUnsigned) const {
  using I = arith::CmpIPredicate;
  using F = arith::CmpFPredicate;
  struct Row {
    OpId id;
    I word, natural;
    F real;
  };
  static constexpr Row rows[] = {
      // NaN differs from everything, itself included, so `!=` alone is the comparison that holds for operands without an order.
      {OpId::Eq, I::eq, I::eq, F::OEQ},   {OpId::Ne, I::ne, I::ne, F::UNE},
      {OpId::Lt, I::slt, I::ult, F::OLT}, {OpId::Le, I::sle, I::ule, F::OLE},
      {OpId::Gt, I::sgt, I::ugt, F::OGT}, {OpId::Ge, I::sge, I::uge, F::OGE},
  };
  for (const Row &row : rows)
    if (row.id == id)
      return compare(isUnsigned ? row.natural : row.word, row.real, a, c);
  return {};
}

/// The operations that only integers have; null for others.
Value Scalars::bits(OpId id, Value a, Value c, bool isUnsigned) const {
  switch (id) {
  case OpId::Cdiv:
    return isUnsigned ? make<arith::CeilDivUIOp>(a, c) : make<arith::CeilDivSIOp>(a, c);
  case OpId::Shl:
  case OpId::Shr:
    return shift(id, a, c, isUnsigned);
  case OpId::BitAnd:
  case OpId::And:
    return make<arith::AndIOp>(a, c);
  case OpId::BitOr:
  case OpId::Or:
    return make<arith::OrIOp>(a, c);
  case OpId::BitXor:
    return make<arith::XOrIOp>(a, c);
  case OpId::Not:
    return make<arith::XOrIOp>(a, number(a.getType(), -1));
  default:
    return {};
  }
}

/// NaN if an operand is, and of two zeros the one that the sign decides. By comparisons, since what
/// C++ spells so is whichever operand does not compare.
Value Scalars::extremeNan(Value a, Value c, bool larger) const {
  using F = arith::CmpFPredicate;
  auto test = [&](F how, Value x, Value y) {
    return b.createOrFold<arith::CmpFOp>(loc, how, x, y);
  };
  Value zero = number(a.getType(), 0);
  Value isNan = make<arith::OrIOp>(test(F::UNE, a, a), test(F::UNE, c, c));
  Value areZero = make<arith::AndIOp>(test(F::OEQ, a, zero), test(F::OEQ, c, zero));
  // A sum with NaN is NaN. That of two zeros is positive unless both are negative, and the other
  // way round behind two changes of sign.
  auto negated = [&](Value x) { return b.createOrFold<arith::NegFOp>(loc, x); };
  Value sum =
      larger ? make<arith::AddFOp>(a, c) : negated(make<arith::AddFOp>(negated(a), negated(c)));
  Value kept = select(test(larger ? F::OGT : F::OLT, a, c), a, c);
  return select(make<arith::OrIOp>(isNan, areZero), sum, kept);
}

Value Scalars::arithmetic(OpId id, llvm::ArrayRef<Value> in, bool isUnsigned) const {
  Value a = in[0], c = in.size() > 1 ? in[1] : Value();
  Type type = a.getType();
  bool real = isa<FloatType>(type);
  switch (id) {
  case OpId::Add:
    return by<arith::AddFOp, arith::AddIOp>(a, c, isUnsigned);
  case OpId::Sub:
    return by<arith::SubFOp, arith::SubIOp>(a, c, isUnsigned);
  case OpId::Mul:
    return by<arith::MulFOp, arith::MulIOp>(a, c, isUnsigned);
  case OpId::Div:
    return by<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(a, c, isUnsigned);
  case OpId::Rem:
    return by<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(a, c, isUnsigned);
  case OpId::Max:
    return by<arith::MaxNumFOp, arith::MaxSIOp, arith::MaxUIOp>(a, c, isUnsigned);
  case OpId::Min:
    return by<arith::MinNumFOp, arith::MinSIOp, arith::MinUIOp>(a, c, isUnsigned);
  case OpId::MaxNan:
  case OpId::MinNan:
    return real ? extremeNan(a, c, id == OpId::MaxNan)
                : arithmetic(id == OpId::MaxNan ? OpId::Max : OpId::Min, in, isUnsigned);
  case OpId::Clamp: {
    Value kept =
        arithmetic(OpId::Min, {arithmetic(OpId::Max, {a, c}, isUnsigned), in[2]}, isUnsigned);
    // The larger of NaN and a limit is the limit, but NaN stays.
    return real ? select(compareBy(OpId::Ne, a, a, false), a, kept) : kept;
  }
  case OpId::Neg:
    return real ? b.createOrFold<arith::NegFOp>(loc, a) : make<arith::SubIOp>(number(type, 0), a);
  case OpId::Abs:
    if (isUnsigned)
      return a;
    // 0 minus either zero is the positive one; the larger of both zeros could be the other.
    if (real)
      return select(compareBy(OpId::Gt, a, number(type, 0), false), a,
                    make<arith::SubFOp>(number(type, 0), a));
    return arithmetic(OpId::Max, {a, arithmetic(OpId::Neg, {a}, false)}, false);
  case OpId::Sign: {
    Value zero = number(type, 0);
    // Neither comparison holds for NaN and for zeros, which thereby stay what they are, sign included.
    Value up = select(compareBy(OpId::Gt, a, zero, isUnsigned), number(type, 1), real ? a : zero);
    return isUnsigned ? up : select(compareBy(OpId::Lt, a, zero, false), number(type, -1), up);
  }
  // `fma` is none of these: a sum of a product would round twice.
  case OpId::Select:
    return select(a, c, in[2]);
  default:
    return real ? Value() : bits(id, a, c, isUnsigned);
  }
}

} // namespace

/// Whether a conversion to floats may have to round otherwise than to the nearest even number, which
/// the scalar unit cannot do.
static bool roundsInDirection(Operation *op, Type from, Type to) {
  auto round = op->getAttrOfType<StringAttr>("round");
  auto real = dyn_cast<FloatType>(to);
  if (!real || !round || round.getValue() == "even" || from == to)
    return false;
  // `bf16` has fewer digits than `f16` but a wider range, so its small numbers may have to be rounded nonetheless: the width counts, too.
  if (auto narrow = dyn_cast<FloatType>(from))
    return narrow.getFPMantissaWidth() > real.getFPMantissaWidth() ||
           narrow.getWidth() >= real.getWidth();
  return from.isIndex() || from.getIntOrFloatBitWidth() > real.getFPMantissaWidth();
}

/// The rounding mode that `round`, `floor`, `ceil` or `trunc` is.
static llvm::StringRef roundingOf(Operation *op) {
  return isa<ir::RoundOp>(op)   ? "even"
         : isa<ir::FloorOp>(op) ? "down"
         : isa<ir::CeilOp>(op)  ? "up"
                                : "zero";
}

Value scalarResult(OpBuilder &b, Operation *op, llvm::ArrayRef<Value> in, Type type) {
  Scalars scalars(b, op->getLoc());
  if (in.empty())
    return {};
  // The first operand of a selection is its condition.
  bool isUnsigned = in[isa<ir::SelectOp>(op) ? 1 : 0].getType().isUnsignedInteger();
  llvm::SmallVector<Value> plain;
  for (Value value : in)
    // `arith` has no signs in its types; whether there is one is passed along beside the value.
    plain.push_back(scalars.plain(value));
  Type wanted =
      type.isUnsignedInteger() ? Type(b.getIntegerType(type.getIntOrFloatBitWidth())) : type;
  Value result;
  auto round = op->getAttrOfType<StringAttr>("round");
  if (roundsInDirection(op, plain[0].getType(), wanted))
    return {};
  bool rounds =
      round && isa<FloatType>(plain[0].getType()) && wanted.isIntOrIndex() && !wanted.isInteger(1);
  // 64 bits without a sign hold more than the integers that a number is rounded by. The conversion itself cuts off.
  if (rounds && type.isUnsignedInteger(64))
    plain[0] =
        round.getValue() == "zero" ? plain[0] : scalars.wholeFloat(plain[0], round.getValue());
  else if (rounds)
    plain[0] = scalars.whole(plain[0], round.getValue());
  auto saturate = op->getAttrOfType<BoolAttr>("saturate");
  if (saturate && saturate.getValue() && plain[0].getType().isIntOrIndex() &&
      wanted.isIntOrIndex() && !wanted.isInteger(1) && !plain[0].getType().isInteger(1))
    plain[0] = scalars.limited(plain[0], isUnsigned, wanted, type.isUnsignedInteger());
  if (isa<ir::RoundOp, ir::FloorOp, ir::CeilOp, ir::TruncOp>(op))
    result = scalars.wholeFloat(plain[0], roundingOf(op));
  else if (isa<ir::ConvertOp, ir::CastOp>(op))
    result = scalars.convert(plain[0], isUnsigned, wanted, type.isUnsignedInteger());
  else if (isa<ir::BitcastOp>(op))
    result = plain[0].getType() == wanted
                 ? plain[0]
                 : b.createOrFold<arith::BitcastOp>(op->getLoc(), wanted, plain[0]);
  else if (std::optional<OpId> id = isa<arith::SelectOp>(op) ? OpId::Select : ir::opIdOf(op)) {
    if (plain.size() == 2)
      result = scalars.compareBy(*id, plain[0], plain[1], isUnsigned);
    if (!result)
      result = scalars.arithmetic(*id, plain, isUnsigned);
  }
  return result ? scalars.cast(result, type) : result;
}

void lowerScalars(func::FuncOp function) {
  OpBuilder b(function.getContext());
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  llvm::SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa_and_nonnull<ir::PtlDialect>(op->getDialect()) && op->getNumResults() == 1 &&
        llvm::all_of(op->getOperandTypes(), isScalar) && isScalar(op->getResult(0).getType()))
      // Operations are collected first, because they are replaced.
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    b.setInsertionPoint(op);
    Value result =
        scalarResult(b, op, llvm::to_vector(op->getOperands()), op->getResult(0).getType());
    if (!result)
      continue;
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}

Value combineScalars(OpBuilder &b, Location loc, OpId combiner, Value old, Value value) {
  Scalars scalars(b, loc);
  Type type = old.getType();
  Value result = scalars.arithmetic(combiner, {scalars.plain(old), scalars.plain(value)},
                                    type.isUnsignedInteger());
  return scalars.cast(result, type);
}

} // namespace ptl::block
