// The builder of tile expressions, and what machines take.
#include "ir/dialect/attributes.h"
#include "passes/transform/legalize/legalize.h"

#include "passes/analysis/lengths.h"
#include "passes/analysis/machine_types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir::legalize {

// ---- what machines take -------------------------------------------------------------------------

bool Target::has(llvm::StringRef instruction, Type elem) const {
  return machine_.supports(instruction,
                           std::initializer_list<std::string_view>{machineTypeName(elem)});
}

bool Target::converts(Type from, Type to) const {
  return machine_.supports(
      "tcvt", std::initializer_list<std::string_view>{machineTypeName(from), machineTypeName(to)});
}

// ---- constants ----------------------------------------------------------------------------------

static std::optional<double> numberIn(Attribute attribute) {
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return real.getValue().convertToDouble();
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    const APInt &bits = integer.getValue();
    return isUnsigned(integer.getType()) ? static_cast<double>(bits.getZExtValue())
                                         : static_cast<double>(bits.getSExtValue());
  }
  return std::nullopt;
}

std::optional<double> constantOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return numberIn(constant.getValue());
  if (auto constant = dyn_cast<ConstantOp>(op))
    return numberIn(constant.getValue());
  if (isa<ZerosOp>(op))
    return 0;
  if (isa<OnesOp>(op))
    return 1;
  if (auto full = dyn_cast<FullOp>(op))
    return constantOf(full.getValue());
  if (isa<BroadcastOp, NewAxisOp, CastOp>(op))
    return constantOf(op->getOperand(0));
  return std::nullopt;
}

Value TileBuilder::number(Type elem, double value) const {
  if (auto real = dyn_cast<FloatType>(elem)) {
    // The conversion rounds once from double to the element type.
    llvm::APFloat exact(value);
    bool inexact = false;
    exact.convert(real.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return r.create<arith::ConstantOp>(loc, FloatAttr::get(elem, exact));
  }
  if (elem.isIndex())
    return index(static_cast<int64_t>(value));
  // The number is taken as a signed word and cut to the width, so masks can be given as negative
  // numbers. The largest one of 64 bits is given as the next number, which a `double` holds.
  bool isBeyond = value >= 0x1p63;
  auto whole = isBeyond ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(value);
  APInt bits(64, static_cast<uint64_t>(whole), true);
  auto attribute = IntegerAttr::get(elem, bits.sextOrTrunc(elem.getIntOrFloatBitWidth()));
  if (isUnsigned(elem))
    return r.create<ConstantOp>(loc, attribute);
  return r.create<arith::ConstantOp>(loc, attribute);
}

Value TileBuilder::index(int64_t value) const {
  return r.create<arith::ConstantIndexOp>(loc, value);
}

// ---- operations ---------------------------------------------------------------------------------

llvm::SmallVector<Extent> TileBuilder::broadcastExtents(ValueRange operands) {
  llvm::SmallVector<Extent> result;
  for (Value operand : operands) {
    llvm::ArrayRef<Extent> own = extentsOf(operand.getType());
    if (own.size() > result.size())
      result.insert(result.begin(), own.size() - result.size(), Extent::constant(1));
    size_t shift = result.size() - own.size();
    for (size_t i = 0; i < own.size(); ++i)
      // A constant length says more than a name, and any length more than 1.
      if (result[i + shift].isOne() ||
          (!result[i + shift].isConstant() && own[i].isConstant() && !own[i].isOne()))
        result[i + shift] = own[i];
  }
  return result;
}

Value TileBuilder::make(llvm::StringRef name, Type elem, ValueRange operands,
                        llvm::ArrayRef<NamedAttribute> attributes) const {
  OperationState state(loc, name);
  state.addOperands(operands);
  state.addAttributes(attributes);
  Type type = elem;
  if (llvm::any_of(operands, isArray))
    type = arrayTypeOf(elem, broadcastExtents(operands));
  state.addTypes(type);
  return r.create(state)->getResult(0);
}

static std::pair<Value, Value> valuesOf(const Tiles &t, Arg a, Arg b) {
  Type type = elem(a.value ? a.value : b.value);
  return {a.value ? a.value : t.number(type, a.number),
          b.value ? b.value : t.number(type, b.number)};
}

Value Tiles::binary(llvm::StringRef name, Arg a, Arg b) const {
  auto [x, y] = valuesOf(*this, a, b);
  return make(name, elem(x), {x, y});
}

Value Tiles::compare(llvm::StringRef name, Arg a, Arg b) const {
  auto [x, y] = valuesOf(*this, a, b);
  return make(name, i1(), {x, y});
}

Value TileBuilder::asInstruction(Value value) const {
  attrs::instruction.set(value.getDefiningOp());
  return value;
}

Value Tiles::shl(Value a, Arg count) const {
  return asInstruction(binary(ShlOp::getOperationName(), a, count));
}
Value Tiles::shr(Value a, Arg count) const {
  return asInstruction(binary(ShrOp::getOperationName(), a, count));
}

// An arithmetic shift copies the sign, which the mask removes. Of 64 bits, masks are no exact numbers here, but they are lowered
// word by word, without a sign as well as with one.
Value Tiles::shrUnsigned(Value a, int count) const {
  unsigned width = intBits(elem(a));
  if (width == 64)
    return bitcast(shr(bitcast(a, r.getIntegerType(64, false)), count), elem(a));
  double kept = static_cast<double>((uint64_t(1) << (width - static_cast<unsigned>(count))) - 1);
  return count == 0 ? a : bitAnd(shr(a, count), kept);
}

// This is Horner's scheme, the highest coefficient first.
Value Tiles::poly(Value x, llvm::ArrayRef<double> coefficients) const {
  Value sum = number(elem(x), coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    sum = add(mul(sum, x), c);
  return sum;
}

Value Tiles::oddPoly(Value x, Value z, llvm::ArrayRef<double> coefficients) const {
  return add(mul(mul(x, z), poly(z, coefficients)), x);
}

Value Tiles::select(Value condition, Arg a, Arg b) const {
  auto [x, y] = valuesOf(*this, a, b);
  return make(SelectOp::getOperationName(), elem(x), {condition, x, y});
}

/// Whether a double is surely equal to the constant of that type from which it was made: longer whole numbers are rounded.
static bool isExact(Type elem, double number) { return isReal(elem) || std::abs(number) < 0x1p53; }

Value TileBuilder::convert(Value x, Type to, llvm::StringRef round, bool saturate) const {
  if (elem(x) == to)
    return x;
  // A constant scalar is converted at compile time, by way of a double.
  auto known = constantOf(x);
  bool isPlain = known && !isArray(x) && !saturate && round == "even" && isExact(elem(x), *known);
  if (isPlain && (isReal(to) || intBits(elem(x))))
    return number(to, *known);
  return make(ConvertOp::getOperationName(), to, x,
              {r.getNamedAttr("round", r.getStringAttr(round)),
               r.getNamedAttr("saturate", r.getBoolAttr(saturate))});
}

Value TileBuilder::bitcast(Value x, Type to) const {
  if (elem(x) == to)
    return x;
  auto known = constantOf(x);
  if (known && !isArray(x) && intBits(elem(x)) && intBits(to) && isExact(elem(x), *known))
    return number(to, *known);
  return make(BitcastOp::getOperationName(), to, x);
}

Value TileBuilder::widen(Value x, Type to) const {
  // The value before the narrowing still has all digits, so it is taken instead.
  if (auto narrowed = x.getDefiningOp<ConvertOp>(); narrowed && attrs::narrowed.isOn(narrowed))
    if (elem(narrowed.getX()) == to)
      return narrowed.getX();
  return convert(x, to);
}

/// Instructions that convert to 8-bit floats saturate, and operations keep infinity: its code is the one behind that of the largest number.
static Value withInfinities(const TileBuilder &t, Value x, Value narrowed) {
  Type i8 = t.r.getIntegerType(8);
  Value magnitude = t.make(AbsOp::getOperationName(), elem(x), x);
  Value isInfinite =
      t.make(EqOp::getOperationName(), t.i1(), {magnitude, t.number(elem(x), kInfinity)});
  Value code = t.bitcast(narrowed, i8);
  Value behind = t.make(AddOp::getOperationName(), i8, {code, t.number(i8, 1)});
  return t.bitcast(t.make(SelectOp::getOperationName(), i8, {isInfinite, behind, code}),
                   elem(narrowed));
}

Value TileBuilder::narrow(Value x, Type to) const {
  Value result = convert(x, to);
  if (result == x)
    return result;
  // The mark tells later rewritings that the rounding is theirs to undo (`widen`).
  attrs::narrowed.set(result.getDefiningOp());
  auto known = constantOf(x);
  bool mayBeInfinite = isa<mlir::Float8E5M2Type>(to) && !(known && std::isfinite(*known));
  return mayBeInfinite && isArray(x) ? withInfinities(*this, x, result) : result;
}

Value TileBuilder::cloneWith(Operation *op, ValueRange operands, Type elem) const {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addAttributes(op->getAttrs());
  for (Type type : op->getResultTypes()) {
    auto array = dyn_cast<ArrayType>(type);
    state.addTypes(
        array ? ArrayType::get(r.getContext(), elem, array.getExtents(), array.getPlace()) : elem);
  }
  return r.create(state)->getResult(0);
}

// ---- shapes -------------------------------------------------------------------------------------

Value TileBuilder::length(Value x, int64_t axis) const { return lengthOf(r, x, axis); }

static bool hasExtents(Value x, llvm::ArrayRef<Extent> wanted) {
  llvm::ArrayRef<Extent> own = extentsOf(x.getType());
  if (own.size() != wanted.size())
    return false;
  // Lengths of equal names agree, so only extents of 1 can differ.
  for (auto [a, b] : llvm::zip(own, wanted))
    if (a.isOne() != b.isOne())
      return false;
  return true;
}

/// The lengths of the named ones of `extents`, found at the operands that broadcast to them.
static llvm::SmallVector<Value> namedLengths(const TileBuilder &t, llvm::ArrayRef<Extent> extents,
                                             ValueRange operands) {
  llvm::SmallVector<Value> lengths;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis].isConstant())
      continue;
    for (Value operand : operands) {
      llvm::ArrayRef<Extent> own = extentsOf(operand.getType());
      size_t behind = extents.size() - axis;
      if (own.size() < behind || own[own.size() - behind].isOne())
        continue;
      lengths.push_back(t.length(operand, static_cast<int64_t>(own.size() - behind)));
      break;
    }
  }
  return lengths;
}

Value TileBuilder::spread(Value x, llvm::ArrayRef<Extent> extents, ValueRange operands) const {
  if (!isArray(x))
    return full(x, extents, operands);
  if (hasExtents(x, extents))
    return x;
  llvm::SmallVector<int64_t> missing;
  // Missing axes stand in front, since axes align at the end.
  for (size_t i = extentsOf(x.getType()).size(); i < extents.size(); ++i)
    missing.push_back(static_cast<int64_t>(missing.size()));
  x = newAxis(x, missing);
  llvm::SmallVector<Extent> reached(extentsOf(x.getType()));
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (!reached[axis].isOne() || extents[axis].isOne())
      continue;
    reached[axis] = extents[axis];
    OperationState state(loc, BroadcastOp::getOperationName());
    state.addOperands(x);
    llvm::SmallVector<Value> sources = {x};
    llvm::append_range(sources, operands);
    state.addOperands(namedLengths(*this, reached, sources));
    state.addTypes(arrayTypeOf(elem(x), reached));
    x = r.create(state)->getResult(0);
  }
  return x;
}

Value TileBuilder::full(Value scalar, llvm::ArrayRef<Extent> extents, ValueRange operands) const {
  llvm::SmallVector<Value> all = namedLengths(*this, extents, operands);
  OperationState state(loc, FullOp::getOperationName());
  // The lengths stand in front of the value, as the parameters of `full` do.
  state.addOperands(all);
  state.addOperands(scalar);
  state.addTypes(arrayTypeOf(scalar.getType(), extents));
  return r.create(state)->getResult(0);
}

Value TileBuilder::newAxis(Value x, llvm::ArrayRef<int64_t> axes) const {
  if (axes.empty())
    return x;
  llvm::SmallVector<Extent> extents(extentsOf(x.getType()));
  for (int64_t axis : axes)
    extents.insert(extents.begin() + axis, Extent::constant(1));
  return r.create<NewAxisOp>(loc, arrayTypeOf(elem(x), extents), x, r.getDenseI64ArrayAttr(axes));
}

Value TileBuilder::transpose(Value x, llvm::ArrayRef<int64_t> axes) const {
  if (llvm::is_sorted(axes)) // a turn that leaves all axes where they are
    return x;
  llvm::SmallVector<Extent> extents;
  for (int64_t axis : axes)
    extents.push_back(extentsOf(x.getType())[static_cast<size_t>(axis)]);
  return r.create<TransposeOp>(loc, arrayTypeOf(elem(x), extents), x, r.getDenseI64ArrayAttr(axes));
}

Value TileBuilder::reshape(Value x, llvm::ArrayRef<Extent> extents, ValueRange lengths) const {
  OperationState state(loc, ReshapeOp::getOperationName());
  state.addOperands(x);
  for (auto [extent, length] : llvm::zip(extents, lengths))
    if (!extent.isConstant())
      state.addOperands(length);
  state.addTypes(arrayTypeOf(elem(x), extents));
  return r.create(state)->getResult(0);
}

Value TileBuilder::dropAxes(Value x, llvm::ArrayRef<int64_t> axes) const {
  if (axes.empty())
    return x;
  llvm::SmallVector<Extent> extents;
  llvm::SmallVector<Value> offsets, lengths;
  for (int64_t axis = 0; axis < rankOf(x.getType()); ++axis) {
    bool dropped = llvm::is_contained(axes, axis);
    offsets.push_back(index(0));
    lengths.push_back(dropped ? index(1) : length(x, axis));
    if (!dropped)
      extents.push_back(extentsOf(x.getType())[static_cast<size_t>(axis)]);
  }
  Type type = extents.empty() ? elem(x) : Type(arrayTypeOf(elem(x), extents));
  return r.create<SliceOp>(loc, type, x, offsets, lengths, ValueRange(), Value(),
                           r.getDenseI64ArrayAttr(axes));
}

Value TileBuilder::positions(Value like, int64_t axis) const {
  int64_t rank = rankOf(like.getType());
  const Extent &extent = extentsOf(like.getType())[static_cast<size_t>(axis)];
  OperationState state(loc, IndexOp::getOperationName());
  state.addOperands(index(0));
  if (!extent.isConstant())
    state.addOperands(length(like, axis));
  state.addTypes(arrayTypeOf(i32(), {extent}));
  Value row = r.create(state)->getResult(0);
  // The row of positions is turned into the wanted axis by adding axes of extent 1 around it.
  llvm::SmallVector<int64_t> added;
  for (int64_t n = 0; n < rank; ++n)
    if (n != axis)
      added.push_back(n);
  return newAxis(row, added);
}

} // namespace ptl::ir::legalize
