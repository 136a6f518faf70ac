// Block-scaled products: by definition, products of the numbers that elements and scales stand for; on machines that
// multiply blocks, products with scales.
#include "ir/build/build_blocks.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_type.h"
#include "ir/build/elements.h"
#include "machines/machine.h"

using namespace mlir;

namespace ptl::ir {

// ---- the type of scales -------------------------------------------------------------------------

namespace {

/// A float type by its bits, as far as it has the exponents of scales.
struct FloatBits {
  int64_t mantissa;
  int64_t rebias; ///< its bias less that of `f8e8m0`
};

} // namespace

/// The bits of `2^(code - 127)` in f32 are the code as an exponent. Its smallest power of two is below the normal numbers
/// of f32, and 255 is NaN: both have the highest bit of the fraction.
static mlir::Value scaleAsFloat(const Elements &e, mlir::Value code, BuildContext &c) {
  mlir::Value wide = e.convert(code, c.b.getI32Type());
  mlir::Value bits = e.with<ShlOp>(wide, 23);
  mlir::Value isAtEnd = e.make<OrOp>(e.compare<EqOp>(wide, 0), e.compare<EqOp>(wide, 255));
  return e.bitcast(e.select(isAtEnd, e.with<BitOrOp>(bits, 0x400000), bits), c.b.getF32Type());
}

/// What is added to the bits of a float, so that cutting its fraction off rounds to a power of two.
static mlir::Value roundedBits(const Elements &e, mlir::Value bits, int64_t mantissa,
                               RoundMode round) {
  int64_t half = int64_t(1) << (mantissa - 1);
  switch (round) {
  case RoundMode::Even: {
    mlir::Value odd = e.with<BitAndOp>(e.with<ShrOp>(bits, mantissa), 1);
    return e.make<AddOp>(e.with<AddOp>(bits, half - 1), odd);
  }
  case RoundMode::Away:
    return e.with<AddOp>(bits, half);
  case RoundMode::Up:
    return e.with<AddOp>(bits, 2 * half - 1);
  case RoundMode::Zero:
  case RoundMode::Down:
    return bits;
  }
  return bits;
}

/// Where a number below the normal ones of f32 becomes the second power of two of scales instead of the first, which lies
/// below them as well: the least bits that do. Negative: none does.
static int64_t leastRoundedUp(RoundMode round) {
  switch (round) {
  case RoundMode::Even:
    return 0x600001;
  case RoundMode::Away:
    return 0x600000;
  case RoundMode::Up:
    return 0x400001;
  case RoundMode::Zero:
  case RoundMode::Down:
    return -1;
  }
  return -1;
}

/// The code of a float; of NaN and of negative numbers 255.
static mlir::Value floatAsScale(const Elements &e, mlir::Value x, RoundMode round,
                                BuildContext &c) {
  bool isWide = elementTypeOf(x.getType()).isF64();
  FloatBits format = isWide ? FloatBits{52, 1023 - 127} : FloatBits{23, 0};
  mlir::Type integer = c.b.getIntegerType(isWide ? 64 : 32);
  mlir::Value bits = e.bitcast(x, integer);
  int64_t infinity = isWide ? int64_t(0x7ff) << 52 : int64_t(0xff) << 23;
  int64_t negativeZero = isWide ? INT64_MIN : INT32_MIN;
  mlir::Value isNan = e.compare<GtOp>(bits, infinity);
  mlir::Value isNegative = e.compare<LtOp>(bits, 0);
  mlir::Value isZero = e.compare<EqOp>(bits, negativeZero);
  mlir::Value magnitude = e.select(isNegative, e.number(integer, 0), bits);
  mlir::Value code =
      e.with<ShrOp>(roundedBits(e, magnitude, format.mantissa, round), format.mantissa);
  if (!isWide) {
    int64_t least = leastRoundedUp(round);
    mlir::Value first = e.number(integer, 0);
    mlir::Value below =
        least < 0 ? first
                  : e.select(e.compare<GeOp>(magnitude, least), e.number(integer, 1), first);
    code = e.select(e.compare<LtOp>(magnitude, int64_t(1) << 23), below, code);
  } else {
    code = e.with<MaxOp>(e.with<SubOp>(code, format.rebias), 0);
  }
  code = e.with<MinOp>(code, 254);
  code = e.select(isNan, e.number(integer, 255), code);
  // The bits of -0 are those of the least integer, which is below 0 like those of negative numbers.
  mlir::Value ofNegative = e.select(isZero, e.number(integer, 0), e.number(integer, 255));
  code = e.select(isNegative, ofNegative, code);
  return e.convert(code, scalarType(c.context, ElemKind::F8E8M0));
}

/// A float rounded to the numbers of `f4e2m1`, of which there are 0.5 to 2 by halves, 2 to 4 by ones, and 6. NaN becomes 0.
static mlir::Value roundedToFour(const Elements &e, mlir::Value x, RoundMode round) {
  mlir::Value magnitude = e.one<AbsOp>(x);
  mlir::Value step = e.select(e.compareReal<LtOp>(magnitude, 4), e.real(x, 1), e.real(x, 2));
  step = e.select(e.compareReal<LtOp>(magnitude, 2), e.real(x, 0.5), step);
  mlir::Value steps = e.make<DivOp>(x, step);
  switch (round) {
  case RoundMode::Even:
    steps = e.one<RoundOp>(steps);
    break;
  case RoundMode::Zero:
    steps = e.one<TruncOp>(steps);
    break;
  case RoundMode::Down:
    steps = e.one<FloorOp>(steps);
    break;
  case RoundMode::Up:
    steps = e.one<CeilOp>(steps);
    break;
  case RoundMode::Away: {
    mlir::Value away =
        e.one<FloorOp>(e.make<AddOp>(e.make<DivOp>(magnitude, step), e.real(x, 0.5)));
    steps = e.select(e.compareReal<LtOp>(x, 0), e.one<NegOp>(away), away);
    break;
  }
  }
  mlir::Value number = e.make<MulOp>(steps, step);
  number = e.select(e.compareReal<GtOp>(x, 6), e.real(x, 6), number);
  number = e.select(e.compareReal<LtOp>(x, -6), e.real(x, -6), number);
  // NaN differs from itself.
  return e.select(e.make<EqOp>(x, x, e.bit()), number, e.real(x, 0));
}

/// A type in which conversions from `from` to the held types are exact, but for what they round.
static mlir::Type wideOf(BuildContext &c, ElemKind from) {
  bool isShort = isFloat(from) ? elemBits(from) <= 32 : elemBits(from) <= 16;
  return isShort ? mlir::Type(c.b.getF32Type()) : mlir::Type(c.b.getF64Type());
}

mlir::Value convertHeld(BuildContext &c, mlir::Value arg, const ConvertExpr &expr) {
  ElemKind from = elemKind(c, expr.arg->type->elem), to = elemKind(c, expr.type->elem);
  Elements e(c, arg, c.here(expr));
  if (from == ElemKind::F8E8M0)
    arg = scaleAsFloat(e, arg, c);
  if (!isHeldOnly(to))
    return e.convert(arg, scalarType(c.context, to), expr.round, expr.saturate);
  mlir::Value wide = e.convert(arg, wideOf(c, from));
  if (to == ElemKind::F8E8M0)
    return floatAsScale(e, wide, expr.round, c);
  return e.convert(roundedToFour(e, wide, expr.round), scalarType(c.context, to));
}

// ---- products -----------------------------------------------------------------------------------

/// The numbers that rows of elements and their scales stand for.
static mlir::Value dequantized(BuildContext &c, mlir::Value x, mlir::Value scale, Location loc) {
  mlir::Type f32 = c.b.getF32Type();
  auto typed = [&](llvm::ArrayRef<Extent> extents) { return arrayTypeOf(f32, extents); };
  llvm::SmallVector<Extent> whole(extentsOf(x.getType()));
  llvm::SmallVector<Extent> inBlocks(extentsOf(scale.getType())), one = inBlocks;
  // Blocks become an axis of their own, along which the scale of each is broadcast.
  inBlocks.push_back(Extent::constant(kBlockLength));
  one.push_back(Extent::constant(1));
  auto lengths = [&](mlir::Value array) {
    llvm::SmallVector<mlir::Value> named;
    for (auto [axis, extent] : llvm::enumerate(extentsOf(array.getType())))
      if (!extent.isConstant())
        named.push_back(lengthOf(c, array, static_cast<int64_t>(axis)));
    return named;
  };
  Elements numbers(c, x, loc), scales(c, scale, loc);
  mlir::Value blocks =
      c.make<ReshapeOp>(loc, typed(inBlocks), numbers.convert(x, f32), lengths(scale));
  mlir::Value factors =
      c.make<NewAxisOp>(loc, typed(one), scaleAsFloat(scales, scale, c),
                        c.b.getDenseI64ArrayAttr({static_cast<int64_t>(one.size()) - 1}));
  mlir::Value scaled = c.make<MulOp>(loc, typed(inBlocks), blocks, factors);
  return c.make<ReshapeOp>(loc, typed(whole), scaled, lengths(x));
}

static mlir::Value transposed(BuildContext &c, mlir::Value x, Location loc) {
  llvm::ArrayRef<Extent> extents = extentsOf(x.getType());
  auto type = arrayTypeOf(elementTypeOf(x.getType()), {extents[1], extents[0]});
  return c.make<TransposeOp>(loc, type, x, c.b.getDenseI64ArrayAttr({1, 0}));
}

/// Whether a value is a part of an array in global memory, as it lies there.
static bool isPartOfArray(mlir::Value value) {
  Operation *op = value.getDefiningOp();
  auto isPlain = [](auto box) { return box.getSteps().empty() && !box.getOutside(); };
  if (auto slice = dyn_cast_or_null<SliceOp>(op))
    return isPlain(slice) && cast<ArrayType>(slice.getSource().getType()).getPlace() == Place::Gm;
  auto load = dyn_cast_or_null<LoadOp>(op);
  return load && isPlain(load);
}

/// A part of an array that a declaration pins to `mat`, where products take factors and scales from in any case; as it lies in
/// memory. Other values are as they are.
static mlir::Value withoutPlace(mlir::Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  bool isPinned = cast && mlir::cast<ArrayType>(cast.getType()).getPlace() == Place::Mat &&
                  isPartOfArray(cast.getOperand());
  return isPinned ? cast.getOperand() : value;
}

/// Whether the machine multiplies these blocks as they are: in a kernel, with factors and scales from memory, and blocks
/// in pairs.
static bool multipliesBlocks(BuildContext &c, const OpExpr &expr,
                             llvm::ArrayRef<mlir::Value> values) {
  if (!c.binding.chip || !c.isInKernel() || !llvm::all_of(values, isPartOfArray))
    return false;
  auto name = [&](size_t at) {
    ElemKind elem = elemKind(c, expr.args[at]->type->elem);
    return elemName(elem == ElemKind::F4E2M1 ? ElemKind::F8E4M3 : elem); // as the IR has it
  };
  return c.binding.chip->supports("tmatmul.mx", {name(0), name(2), "f32"}) &&
         c.names.isMultiple(rootDim(c, expr.args[0]->type->extents.back().length),
                            2 * kBlockLength);
}

mlir::Value buildScaledDot(BuildContext &c, const OpExpr &expr) {
  Location loc = c.here(expr);
  llvm::SmallVector<mlir::Value> values;
  for (const Expr *arg : expr.args)
    values.push_back(withoutPlace(buildValue(c, *arg)));
  auto full = c.b.getStringAttr("full");
  if (multipliesBlocks(c, expr, values))
    return c.make<MatmulOp>(loc, irType(c, *expr.type), values[0], transposed(c, values[2], loc),
                            ValueRange{values[1], values[3]}, full);
  mlir::Value a = dequantized(c, values[0], values[1], loc),
              b = dequantized(c, values[2], values[3], loc);
  return c.make<MatmulOp>(loc, irType(c, *expr.type), a, transposed(c, b, loc), ValueRange(), full);
}

} // namespace ptl::ir
