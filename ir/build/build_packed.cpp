#include "ir/build/build_packed.h"

#include "ir/build/build_assign.h"
#include "ir/build/build_dim.h"
#include "ir/build/elements.h"
#include "ir/dialect/make_op.h"
#include "machines/machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

// ---- types --------------------------------------------------------------------------------------

bool isPackedType(BuildContext &c, const Type &type) {
  return type.isArray() && !type.elem.param && isPacked(type.elem.kind) && !type.extents.empty();
}

/// Half of a length along an axis with that bound.
static Extent halved(BuildContext &c, Dim length, int64_t capacity) {
  Dim bound = capacity == Extent::kUnknown ? Dim() : c.dims.constant((capacity + 1) / 2);
  return rootExtent(c, c.dims.floorDiv(length, c.dims.constant(2)), bound);
}

/// Numbers with a sign for `i4`, codes for `f4e2m1`.
static mlir::Type byteType(BuildContext &c, bool isFloat) {
  return scalarType(c.context, isFloat ? ElemKind::U8 : ElemKind::I8);
}

static llvm::SmallVector<Extent> packedExtents(BuildContext &c, const Type &type) {
  llvm::SmallVector<Extent> extents = irExtents(c, type);
  extents.back() = halved(c, rootDim(c, type.extents.back().length), extents.back().capacity);
  return extents;
}

ArrayType packedType(BuildContext &c, const Type &type) {
  return ArrayType::get(&c.context, byteType(c, isFloat(type.elem.kind)), packedExtents(c, type),
                        Place::Gm);
}

RefType packedRefType(BuildContext &c, const Type &type) {
  return RefType::get(&c.context, byteType(c, isFloat(type.elem.kind)), packedExtents(c, type),
                      Place::Gm);
}

Bound packedBound(BuildContext &c, const Type &type, mlir::Value bytes) {
  Bound bound = Bound::of(bytes);
  bound.unpacked = ArrayType::get(&c.context, scalarType(c.context, type.elem.kind),
                                  irExtents(c, type), Place::Gm);
  bound.lastLength = rootDim(c, type.extents.back().length);
  return bound;
}

const Bound *packedBehind(BuildContext &c, const Expr &expr) {
  if (expr.kind != ExprKind::LocalRef)
    return nullptr;
  const Bound &bound = c.bound(*cast<LocalRefExpr>(expr).local);
  return bound.unpacked ? &bound : nullptr;
}

// ---- elements of bytes --------------------------------------------------------------------------

namespace {

/// The arithmetic on bytes and elements of one array. Numbers of `f4e2m1` are computed from their codes in floats that have all
/// numbers which occur. Vector cores of chips have few operations on bytes: they shift 16 bits, and compute in `f16`.
class Codes {
public:
  Codes(BuildContext &c, mlir::Value like, bool isFloat, Location loc)
      : e_(c, like, loc), isFloat_(isFloat), isChip_(c.binding.chip && !c.binding.chip->executable),
        wide_(isChip_ ? c.b.getF16Type() : c.b.getF32Type()),
        integer_(c.b.getIntegerType(isChip_ ? 16 : 8)), bits_(isChip_ ? 16 : 32), c_(c) {}

  /// The element in the lower or the upper four bits: an integer of `i4`, a float of `f4e2m1`.
  mlir::Value lower(mlir::Value byte) const {
    if (!isFloat_)
      return signedPart(e_.convert(byte, integer_), integer_.getIntOrFloatBitWidth() - 4);
    mlir::Value x = floats(byte);
    return number(e_.make<SubOp>(x, times(e_.one<FloorOp>(times(x, 0.0625)), 16)));
  }
  mlir::Value upper(mlir::Value byte) const {
    if (!isFloat_)
      return e_.with<ShrOp>(e_.convert(byte, integer_), 4);
    return number(e_.one<FloorOp>(times(floats(byte), 0.0625)));
  }
  /// The byte of two elements.
  mlir::Value together(mlir::Value even, mlir::Value odd) const {
    mlir::Type byte = byteType(c_, isFloat_);
    if (!isFloat_) {
      mlir::Value low = e_.with<BitAndOp>(e_.convert(even, integer_), 15);
      mlir::Value high = e_.with<ShlOp>(e_.convert(odd, integer_), 4);
      return e_.convert(e_.make<BitOrOp>(low, high), byte);
    }
    mlir::Value high = times(code(floats(odd)), 16);
    return e_.convert(e_.make<AddOp>(code(floats(even)), high), byte, RoundMode::Even,
                      /*saturate=*/true);
  }
  /// Numbers in the floats that others become on the way to the element type of values; null: they need not become any.
  mlir::Value asFloats(mlir::Value number) const {
    return isFloat_ || isChip_ ? e_.convert(number, wide_) : mlir::Value();
  }
  /// Numbers as elements of the type that values have in the IR.
  mlir::Value elements(mlir::Value number, mlir::Type type) const {
    return e_.convert(number, type, RoundMode::Even, /*saturate=*/true);
  }

private:
  /// The lower bits, the highest of which is the sign.
  mlir::Value signedPart(mlir::Value x, int64_t others) const {
    return e_.with<ShrOp>(e_.with<ShlOp>(x, others), others);
  }
  mlir::Value floats(mlir::Value x) const {
    // Other floats of eight bits become f32 first.
    if (isa<FloatType>(elementTypeOf(x.getType())))
      x = e_.convert(x, c_.b.getF32Type());
    return e_.convert(x, wide_);
  }
  mlir::Value times(mlir::Value x, double by) const { return e_.make<MulOp>(x, e_.real(x, by)); }
  mlir::Value plus(mlir::Value x, double by) const { return e_.make<AddOp>(x, e_.real(x, by)); }

  /// The number of a code of `f4e2m1`; every step is exact.
  mlir::Value number(mlir::Value code) const {
    mlir::Value negative = e_.one<FloorOp>(times(code, 0.125));
    mlir::Value m = e_.make<SubOp>(code, times(negative, 8));
    mlir::Value large = e_.make<MaxOp>(plus(m, -2), plus(times(m, 2), -8));
    m = e_.make<MaxOp>(times(m, 0.5), large);
    return e_.make<MulOp>(m, plus(times(negative, -2), 1));
  }
  mlir::Value code(mlir::Value number) const {
    mlir::Value m = e_.one<AbsOp>(number);
    mlir::Value large = e_.make<MinOp>(plus(m, 2), plus(times(m, 0.5), 4));
    mlir::Value code = e_.make<MinOp>(times(m, 2), large);
    // The sign of 0 is a bit, too; shifted down it is -1.
    mlir::Type bits = c_.b.getIntegerType(bits_);
    mlir::Value sign = e_.with<ShrOp>(e_.bitcast(number, bits), bits_ - 1);
    return e_.make<SubOp>(code, times(e_.convert(sign, wide_), 8));
  }

  Elements e_;
  bool isFloat_, isChip_;
  mlir::Type wide_, integer_;
  unsigned bits_;
  BuildContext &c_;
};

} // namespace

static bool isFloatArray(const Bound &packed) {
  return isa<FloatType>(elementTypeOf(packed.unpacked));
}

/// The elements of all bytes of an array, in order.
static mlir::Value unpack(BuildContext &c, const Bound &packed, mlir::Value bytes,
                          llvm::ArrayRef<Extent> extents, Location loc) {
  Codes codes(c, bytes, isFloatArray(packed), loc);
  mlir::Value even = codes.lower(bytes), odd = codes.upper(bytes);
  auto type = [&](mlir::Type element) {
    return ArrayType::get(&c.context, element, extents, Place::Inferred);
  };
  mlir::Value all =
      makeOp<InterleaveOp>(c.b, loc, type(elementTypeOf(even.getType())), {even, odd});
  Codes whole(c, all, isFloatArray(packed), loc);
  mlir::Value floats = whole.asFloats(all);
  mlir::Value elements = whole.elements(floats ? floats : all, elementTypeOf(packed.unpacked));
  if (floats)
    c.floats[elements] = floats;
  return elements;
}

mlir::Value floatsBehind(BuildContext &c, mlir::Value elements) {
  return c.floats.lookup(elements);
}

/// One of the two elements of each byte, as an index says.
static mlir::Value unpackOne(BuildContext &c, const Bound &packed, mlir::Value bytes,
                             mlir::Value position, Location loc) {
  Codes codes(c, bytes, isFloatArray(packed), loc);
  mlir::Value isOdd = c.make<arith::CmpIOp>(
      loc, arith::CmpIPredicate::eq, c.b.createOrFold<arith::RemUIOp>(loc, position, c.index(2)),
      c.index(1));
  auto element = [&](mlir::Value number) {
    mlir::Value floats = codes.asFloats(number);
    return codes.elements(floats ? floats : number, elementTypeOf(packed.unpacked));
  };
  mlir::Value low = element(codes.lower(bytes)), high = element(codes.upper(bytes));
  return c.make<SelectOp>(loc, low.getType(), isOdd, high, low);
}

// ---- boxes --------------------------------------------------------------------------------------

bool isBoxOfBytes(const Box &box) {
  return !box.last || box.last->keepsBytes || box.last->kind == IndexItemKind::Position;
}

/// A box of elements as one of bytes.
static Box bytesOf(BuildContext &c, const Bound &packed, const Box &box) {
  Box bytes = box;
  Dim two = c.dims.constant(2);
  auto half = [&](Dim root) { return emitRoot(c, c.dims.floorDiv(root, two)); };
  if (box.last && box.last->kind == IndexItemKind::Position) {
    bytes.offsets.back() =
        c.b.createOrFold<arith::DivUIOp>(c.place, box.offsets.back(), c.index(2));
  } else if (box.last && box.last->kind == IndexItemKind::Range) {
    bytes.offsets.back() = half(rootDim(c, box.last->range->start));
    bytes.lengths.back() = half(rootDim(c, box.last->range->length));
  } else {
    bytes.lengths.back() = half(packed.lastLength);
  }
  return bytes;
}

static Dim lengthOf(BuildContext &c, const Bound &packed, const Box &box) {
  bool isRange = box.last && box.last->kind == IndexItemKind::Range;
  return isRange ? rootDim(c, box.last->range->length) : packed.lastLength;
}

mlir::Value loadPacked(BuildContext &c, const Bound &packed, const Box &box,
                       llvm::ArrayRef<Extent> boxExtents, llvm::ArrayRef<Extent> extents,
                       Location loc) {
  Box bytes = bytesOf(c, packed, box);
  bool isElement = box.last && box.last->kind == IndexItemKind::Position;
  mlir::Type element = elementTypeOf(packed.value.getType());
  auto typeOf = [&](llvm::SmallVector<Extent> shape) -> mlir::Type {
    if (shape.empty())
      return element;
    if (!isElement)
      shape.back() = halved(c, lengthOf(c, packed, box), shape.back().capacity);
    return ArrayType::get(&c.context, element, shape, Place::Inferred);
  };
  llvm::SmallVector<Extent> shape(boxExtents);
  mlir::Value loaded = takeBox(c, typeOf(shape), packed.value, bytes, mlir::Value(), loc);
  // Positions are chosen among bytes, so that only those are loaded.
  for (const Box::Gather &gather : box.gathers) {
    auto axis = static_cast<size_t>(axisAfterDropping(box, gather.axis));
    shape[axis] = extents[axis];
    loaded = c.make<TakeOp>(loc, typeOf(shape), loaded, gather.index, static_cast<int64_t>(axis));
  }
  return isElement ? unpackOne(c, packed, loaded, box.offsets.back(), loc)
                   : unpack(c, packed, loaded, extents, loc);
}

mlir::Value unpackedWhole(BuildContext &c, const Bound &packed, Location loc) {
  mlir::Value bytes = readRef(c, Bound::of(packed.value), loc).value;
  return unpack(c, packed, bytes, extentsOf(packed.unpacked), loc);
}

void storePacked(BuildContext &c, mlir::Value value, const Bound &packed, const Box &box,
                 Location loc) {
  bool isFloat = isFloatArray(packed);
  Box bytes = bytesOf(c, packed, box);
  auto array = dyn_cast<ArrayType>(value.getType());
  if (!array) { // a scalar fills the box
    mlir::Value filled = Codes(c, value, isFloat, loc).together(value, value);
    return storeBox(c, filled, packed.value, bytes, AssignMode::Set, loc);
  }
  llvm::SmallVector<Extent> extents(array.getExtents());
  extents.back() = halved(c, lengthOf(c, packed, box), extents.back().capacity);
  auto type = ArrayType::get(&c.context, array.getElementType(), extents, Place::Inferred);
  OperationState state(loc, DeinterleaveOp::getOperationName());
  state.addOperands(value);
  state.addTypes({type, type});
  Operation *parts = c.b.create(state);
  mlir::Value even = parts->getResult(0), odd = parts->getResult(1);
  storeBox(c, Codes(c, even, isFloat, loc).together(even, odd), packed.value, bytes,
           AssignMode::Set, loc);
}

} // namespace ptl::ir
