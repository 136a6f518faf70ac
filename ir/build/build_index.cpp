// Boxes of index expressions, and checks of their bounds.
#include "ir/build/build_index.h"
#include "ir/build/build_check.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_packed.h"
#include "ir/build/build_type.h"

#include "ir/dialect/make_op.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

static void checkPosition(BuildContext &c, mlir::Value position, mlir::Value extent,
                          const std::string &ofAxis, Location loc) {
  mlir::Value low =
      c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, position, c.index(0));
  mlir::Value high =
      c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, position, extent);
  emitCheck(c, c.b.createOrFold<arith::AndIOp>(loc, low, high), "bounds",
            "position {0} is outside of 0..{1}" + ofAxis, {position, extent}, loc);
}

/// `0 <= start`, and the last position lies inside; empty ranges only need `start` within
/// `0..extent`.
static void checkRange(BuildContext &c, const Box &box, size_t axis, mlir::Value extent,
                       const std::string &ofAxis, Location loc) {
  // The last position has to lie inside, so the end is start + (length - 1) * step + 1.
  mlir::Value start = box.offsets[axis], length = box.lengths[axis], step = box.steps[axis];
  mlir::Value one = c.index(1);
  mlir::Value last = c.b.createOrFold<arith::SubIOp>(loc, length, one);
  last = c.b.createOrFold<arith::MulIOp>(loc, last, step);
  mlir::Value end = c.b.createOrFold<arith::AddIOp>(loc, start, last);
  end = c.b.createOrFold<arith::AddIOp>(loc, end, one);
  mlir::Value empty =
      c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, length, c.index(0));
  auto within = [&](arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) {
    return c.b.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
  };
  mlir::Value fits = within(arith::CmpIPredicate::sle, end, extent);
  // An empty range reaches no position.
  fits = c.b.createOrFold<arith::OrIOp>(loc, empty, fits);
  fits = c.b.createOrFold<arith::AndIOp>(loc, fits,
                                         within(arith::CmpIPredicate::sge, start, c.index(0)));
  fits = c.b.createOrFold<arith::AndIOp>(loc, fits,
                                         within(arith::CmpIPredicate::sge, length, c.index(0)));
  emitCheck(c, fits, "bounds", "positions {0}..{1} are outside of 0..{2}" + ofAxis,
            {start, end, extent}, loc);
}

/// A slice whose end lies before its start is an error and not empty. Its length does not tell,
/// because it is the distance divided by the step and rounded up, or that of a range, which is
/// empty.
static void checkOrder(BuildContext &c, const RangeExpr &range, mlir::Value start, Location loc) {
  mlir::Value stop = buildValue(c, *range.hi);
  mlir::Value ordered =
      c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, start, stop);
  emitCheck(c, ordered, "bounds", "a slice ends at {0}, before its start {1}", {stop, start}, loc);
}

/// Whether the array has no elements, because one of its axes has none.
static mlir::Value isEmpty(BuildContext &c, mlir::Value array, Location loc) {
  mlir::Value any;
  for (int64_t axis = 0; axis < rankOf(array.getType()); ++axis) {
    mlir::Value none = c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                                       lengthOf(c, array, axis), c.index(0));
    any = any ? c.b.createOrFold<arith::OrIOp>(loc, any, none) : none;
  }
  return any;
}

// What is compared is wide enough for every position and every extent: a limit in an element type of
// 8 bits would end before the last position that it names.
void checkPositions(BuildContext &c, mlir::Value indices, mlir::Value extent, const Expr &written,
                    const std::string &ofAxis) {
  Location loc = c.location(written.span);
  auto create = [&](llvm::StringRef name, mlir::ValueRange operands, mlir::Type result) {
    return makeOp(c.b, loc, name, result, operands);
  };
  auto convert = [&](mlir::Value value, mlir::Type type) -> mlir::Value {
    return c.make<ConvertOp>(loc, type, value, "even", /*saturate=*/true);
  };
  auto arrayOf = [&](mlir::Type element) {
    auto type = cast<ArrayType>(indices.getType());
    return ArrayType::get(&c.context, element, type.getExtents(), type.getPlace());
  };
  // A limit of 256 does not fit into 8 bits, so short integers are compared as 32-bit ones.
  mlir::Type element = cast<ArrayType>(indices.getType()).getElementType();
  if (auto integer = dyn_cast<IntegerType>(element); integer && integer.getWidth() < 32) {
    element = c.b.getI32Type();
    indices = convert(indices, arrayOf(element));
  }
  mlir::Type flags = arrayOf(c.b.getI1Type());
  mlir::Value good, isInside;
  // Without a sign there is no position below 0.
  if (element.isUnsignedInteger()) { // nothing lies below, and there is no limit of an empty axis
    mlir::Value last = c.b.createOrFold<arith::SubIOp>(loc, extent, c.index(1));
    good = create(LeOp::getOperationName(), {indices, convert(last, element)}, flags);
    // An index array without elements is fine for an axis without positions.
    isInside = c.b.createOrFold<arith::OrIOp>(
        loc, isEmpty(c, indices, loc),
        c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, extent, c.index(0)));
  } else {
    mlir::Value zero = buildConstant(c, elemKindOf(element), 0, 0, loc);
    // The conversion saturates, since the extent may lie beyond the element type.
    mlir::Value limit = isa<IndexType>(element) ? extent : convert(extent, element);
    mlir::Value low = create(GeOp::getOperationName(), {indices, zero}, flags);
    good = create(AndOp::getOperationName(),
                  {low, create(LtOp::getOperationName(), {indices, limit}, flags)}, flags);
  }
  mlir::Value all = create(ReduceAllOp::getOperationName(), {good}, c.b.getI1Type());
  if (isInside)
    all = c.b.createOrFold<arith::AndIOp>(loc, all, isInside);
  emitCheck(c, all, "bounds",
            namedIn(c, written, "an index array") + " holds a position outside of 0..{0}" + ofAxis,
            {extent}, loc);
}

/// The length of an axis in elements.
static mlir::Value axisLength(BuildContext &c, const Bound &base, int64_t axis) {
  bool isPacked = base.unpacked && axis + 1 == rankOf(base.value.getType());
  return isPacked ? emitRoot(c, base.lastLength) : lengthOf(c, base.value, axis);
}

static void addFull(BuildContext &c, const Bound &base, Box &box) {
  box.lengths.push_back(axisLength(c, base, static_cast<int64_t>(box.offsets.size())));
  box.offsets.push_back(c.index(0));
  box.steps.push_back(c.index(1));
}

Box wholeBox(BuildContext &c, mlir::Value base) {
  Box box;
  for (int64_t i = 0; i < rankOf(base.getType()); ++i)
    addFull(c, Bound::of(base), box);
  box.steps.clear();
  return box;
}

static void addPosition(BuildContext &c, const IndexItem &item, const Bound &base,
                        const Expr &array, Box &box) {
  auto axis = static_cast<int64_t>(box.offsets.size());
  Location loc = c.location(item.span);
  mlir::Value position = buildValue(c, *item.value);
  // Positions of any integer type become `index`.
  if (!isa<IndexType>(position.getType()))
    position = c.make<ConvertOp>(loc, c.b.getIndexType(), position, "even", /*saturate=*/false);
  if (item.needsCheck && c.binding.checked)
    checkPosition(c, position, axisLength(c, base, axis), axisIn(c, array, axis), loc);
  box.offsets.push_back(position);
  box.lengths.push_back(c.index(1));
  box.steps.push_back(c.index(1));
  box.dropped.push_back(axis);
}

static void addRange(BuildContext &c, const IndexItem &item, const Bound &base, const Expr &array,
                     Box &box) {
  auto axis = static_cast<int64_t>(box.offsets.size());
  Location loc = c.location(item.span);
  Bound range = item.value ? buildExpr(c, *item.value) : Bound();
  // A range that the checker knows has its numbers from there.
  if (range.kind != Bound::Kind::Range || item.range) {
    range.start = emitDim(c, item.range->start);
    range.length = emitDim(c, item.range->length);
    range.step = item.range->step ? emitDim(c, item.range->step) : c.index(1);
  }
  box.offsets.push_back(range.start);
  box.lengths.push_back(range.length);
  box.steps.push_back(range.step);
  box.strided |= !constantIs(range.step, 1);
  if (!item.needsCheck || !c.binding.checked)
    return;
  if (item.mayEndBeforeStart)
    checkOrder(c, cast<RangeExpr>(*item.value), range.start, loc);
  checkRange(c, box, static_cast<size_t>(axis), axisLength(c, base, axis), axisIn(c, array, axis),
             loc);
}

static void addGather(BuildContext &c, const IndexItem &item, const Bound &base, const Expr &array,
                      Box &box, bool isTarget) {
  auto axis = static_cast<int64_t>(box.offsets.size());
  mlir::Value indices = buildValue(c, *item.value);
  if (item.needsCheck && c.binding.checked)
    checkPositions(c, indices, axisLength(c, base, axis), *item.value, axisIn(c, array, axis));
  // The axis is taken whole here, and the positions choose from it afterwards.
  addFull(c, base, box);
  if (!isTarget) {
    box.gathers.push_back({indices, axis});
    return;
  }
  box.scatter = indices;
  box.scatterAxis = axis;
  // A store writes as many positions as the index array has.
  box.lengths.back() = lengthOf(c, indices, 0);
}

bool constantIs(mlir::Value value, int64_t expected) {
  auto op = value.getDefiningOp<arith::ConstantIndexOp>();
  return op && op.value() == expected;
}

Box buildBox(BuildContext &c, const IndexExpr &expr, const Bound &base, bool isTarget) {
  Box box;
  int64_t rank = rankOf(base.value.getType());
  int64_t resultAxis = 0;
  // `resultAxis` counts the axes that stay, since new axes have their places among those.
  for (const IndexItem &item : expr.items) {
    if (static_cast<int64_t>(box.offsets.size()) + 1 == rank && item.kind != IndexItemKind::NewAxis)
      box.last = &item;
    switch (item.kind) {
    case IndexItemKind::Position:
      addPosition(c, item, base, *expr.base, box);
      continue;
    case IndexItemKind::NewAxis:
      box.newAxes.push_back(resultAxis++);
      continue;
    case IndexItemKind::Range:
      addRange(c, item, base, *expr.base, box);
      break;
    case IndexItemKind::Full:
      addFull(c, base, box);
      break;
    case IndexItemKind::Gather:
      addGather(c, item, base, *expr.base, box, isTarget);
      break;
    case IndexItemKind::Rest: {
      size_t count = item.restCount + (item.restHasPrefix ? c.frame->prefix.size() : 0);
      for (size_t i = 0; i < count; ++i)
        addFull(c, base, box);
      resultAxis += static_cast<int64_t>(count);
      continue;
    }
    }
    ++resultAxis;
  }
  bool isWhole =
      box.last && (box.last->kind == IndexItemKind::Full || box.last->kind == IndexItemKind::Rest);
  if (isWhole)
    box.last = nullptr;
  while (static_cast<int64_t>(box.offsets.size()) < rank)
    addFull(c, base, box);
  // No steps at all stand for steps of 1.
  if (!box.strided)
    box.steps.clear();
  return box;
}

int64_t axisAfterDropping(const Box &box, int64_t axis) {
  return axis - llvm::count_if(box.dropped, [&](int64_t dropped) { return dropped < axis; });
}

mlir::Value takeBox(BuildContext &c, mlir::Type type, mlir::Value base, const Box &box,
                    mlir::Value outside, Location loc) {
  auto dropped = c.b.getDenseI64ArrayAttr(box.dropped);
  if (isa<RefType>(base.getType()))
    return c.make<LoadOp>(loc, type, base, box.offsets, box.lengths, box.steps, outside, dropped);
  return c.make<SliceOp>(loc, type, base, box.offsets, box.lengths, box.steps, outside, dropped);
}

/// What an index expression takes a part of, and the box of the part. Bytes that cannot be cut so are unpacked first.
static Bound buildBase(BuildContext &c, const IndexExpr &expr, Box &box) {
  const Bound *packed = packedBehind(c, *expr.base);
  Bound base = packed ? *packed : buildExpr(c, *expr.base);
  if (base.kind == Bound::Kind::Parts)
    return base;
  box = buildBox(c, expr, base, false);
  if (packed && (expr.outside || !isBoxOfBytes(box)))
    base = Bound::of(unpackedWhole(c, *packed, c.here(expr)));
  return base;
}

Bound buildIndex(BuildContext &c, const IndexExpr &expr) {
  Location loc = c.here(expr);
  Box box;
  Bound base = buildBase(c, expr, box);
  if (base.kind == Bound::Kind::Parts) { // A list with a constant position.
    auto position = expr.items.empty() ? std::nullopt : constantDim(c, expr.items[0].value->dim);
    bool inside = position && *position >= 0 && *position < static_cast<int64_t>(base.parts.size());
    return inside ? base.parts[static_cast<size_t>(*position)] : Bound();
  }
  mlir::Type whole = base.unpacked ? base.unpacked : base.value.getType();
  mlir::Value outside = expr.outside ? buildValue(c, *expr.outside) : mlir::Value();
  // Lengths come from the result's type; axes that later steps add or take are put back for the box
  // itself.
  mlir::Type result = irType(c, *expr.type);
  llvm::SmallVector<Extent> extents;
  if (auto array = dyn_cast<ArrayType>(result))
    extents.assign(array.getExtents().begin(), array.getExtents().end());
  // From the last to the first, so that earlier numbers stay right.
  for (int64_t axis : llvm::reverse(box.newAxes))
    extents.erase(extents.begin() + axis);
  llvm::ArrayRef<Extent> baseExtents = extentsOf(whole);
  llvm::SmallVector<Extent> boxExtents = extents;
  // The box itself still has all positions of a gathered axis.
  for (const Box::Gather &gather : box.gathers)
    boxExtents[static_cast<size_t>(axisAfterDropping(box, gather.axis))] = baseExtents[gather.axis];
  Place place = isa<ArrayType>(result) ? cast<ArrayType>(result).getPlace() : Place::Inferred;
  auto typeOf = [&](llvm::ArrayRef<Extent> shape) -> mlir::Type {
    if (shape.empty())
      return elementTypeOf(whole);
    return ArrayType::get(&c.context, elementTypeOf(whole), shape, place);
  };
  // `tile[new, :]` of a tile in a place of its own has all of it: a part would be another tile, which no place is said for.
  bool isAll = !base.unpacked && !box.newAxes.empty() && !outside && box.steps.empty() &&
               box.dropped.empty() && isa<ArrayType>(whole) &&
               cast<ArrayType>(whole).getPlace() != Place::Inferred &&
               cast<ArrayType>(whole).getPlace() != Place::Gm &&
               llvm::ArrayRef(boxExtents) == baseExtents;
  mlir::Value value = base.unpacked ? loadPacked(c, base, box, boxExtents, extents, loc)
                      : isAll       ? base.value
                                    : takeBox(c, typeOf(boxExtents), base.value, box, outside, loc);
  for (const Box::Gather &gather :
       base.unpacked ? llvm::ArrayRef<Box::Gather>() : llvm::ArrayRef(box.gathers)) {
    int64_t axis = axisAfterDropping(box, gather.axis);
    boxExtents[static_cast<size_t>(axis)] = extents[static_cast<size_t>(axis)];
    value = c.make<TakeOp>(loc, typeOf(boxExtents), value, gather.index, axis);
  }
  if (box.newAxes.empty())
    return Bound::of(value);
  if (!isa<ArrayType>(value.getType())) { // A scalar gets its first axes.
    return Bound::of(makeOp<FullOp>(c.b, loc, result, value));
  }
  return Bound::of(c.make<NewAxisOp>(loc, result, value, c.b.getDenseI64ArrayAttr(box.newAxes)));
}

} // namespace ptl::ir
