// Indexing: items become the box of `ptl.load`, `ptl.slice`, `ptl.store`, `ptl.insert`, with checks
// before where the checker could not prove the bounds.
#include "ir/build/build_context.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

void Builder::checkPosition(mlir::Value position, mlir::Value extent, Location loc) {
  mlir::Value low =
      builder_.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, position, index(0));
  mlir::Value high =
      builder_.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, position, extent);
  emitCheck(builder_.createOrFold<arith::AndIOp>(loc, low, high), "bounds",
            "position {0} is outside of 0..{1}", {position, extent}, loc);
}

/// `0 <= start`, and the last position lies inside; empty ranges only need `start` within
/// `0..extent`.
void Builder::checkRange(const Box &box, size_t axis, mlir::Value extent, Location loc) {
  mlir::Value start = box.offsets[axis], length = box.lengths[axis], step = box.steps[axis];
  mlir::Value one = index(1);
  mlir::Value last = builder_.createOrFold<arith::SubIOp>(loc, length, one);
  last = builder_.createOrFold<arith::MulIOp>(loc, last, step);
  mlir::Value end = builder_.createOrFold<arith::AddIOp>(loc, start, last);
  end = builder_.createOrFold<arith::AddIOp>(loc, end, one);
  mlir::Value empty =
      builder_.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, length, index(0));
  auto within = [&](arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) {
    return builder_.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
  };
  mlir::Value fits = within(arith::CmpIPredicate::sle, end, extent);
  fits = builder_.createOrFold<arith::OrIOp>(loc, empty, fits);
  fits = builder_.createOrFold<arith::AndIOp>(loc, fits,
                                              within(arith::CmpIPredicate::sge, start, index(0)));
  fits = builder_.createOrFold<arith::AndIOp>(loc, fits,
                                              within(arith::CmpIPredicate::sge, length, index(0)));
  emitCheck(fits, "bounds", "positions {0}..{1} are outside of 0..{2}", {start, end, extent}, loc);
}

/// One reduction over the index array. What is compared is wide enough for every position and every
/// extent: a limit in an element type of 8 bits would end before the last position that it names.
void Builder::checkGather(mlir::Value indices, mlir::Value extent, Location loc) {
  auto create = [&](llvm::StringRef name, mlir::ValueRange operands, mlir::Type result) {
    OperationState state(loc, name);
    state.addOperands(operands);
    state.addTypes(result);
    return builder_.create(state)->getResult(0);
  };
  auto convert = [&](mlir::Value value, mlir::Type type) {
    OperationState state(loc, "ptl.convert");
    state.addOperands(value);
    state.addTypes(type);
    state.addAttribute("round", builder_.getStringAttr("even"));
    state.addAttribute("saturate", builder_.getBoolAttr(true));
    return builder_.create(state)->getResult(0);
  };
  auto arrayOf = [&](mlir::Type element) {
    auto type = cast<ArrayType>(indices.getType());
    return ArrayType::get(&context_, element, type.getExtents(), type.getPlace());
  };
  mlir::Type element = cast<ArrayType>(indices.getType()).getElementType();
  if (auto integer = dyn_cast<IntegerType>(element); integer && integer.getWidth() < 32) {
    element = builder_.getI32Type();
    indices = convert(indices, arrayOf(element));
  }
  mlir::Type flags = arrayOf(builder_.getI1Type());
  mlir::Value good, isInside;
  if (element.isUnsignedInteger()) { // nothing lies below, and there is no limit of an empty axis
    mlir::Value last = builder_.createOrFold<arith::SubIOp>(loc, extent, index(1));
    good = create("ptl.le", {indices, convert(last, element)}, flags);
    mlir::Value none = builder_.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                                            lengthOf(indices, 0), index(0));
    isInside = builder_.createOrFold<arith::OrIOp>(
        loc, none,
        builder_.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, extent, index(0)));
  } else {
    mlir::Value zero = constant(elemKindOf(element), 0, 0, loc);
    mlir::Value limit = isa<IndexType>(element) ? extent : convert(extent, element);
    mlir::Value low = create("ptl.ge", {indices, zero}, flags);
    good = create("ptl.and", {low, create("ptl.lt", {indices, limit}, flags)}, flags);
  }
  mlir::Value all = create("ptl.reduce_all", {good}, builder_.getI1Type());
  if (isInside)
    all = builder_.createOrFold<arith::AndIOp>(loc, all, isInside);
  emitCheck(all, "bounds", "an index array holds a position outside of 0..{0}", {extent}, loc);
}

Builder::Box Builder::wholeBox(mlir::Value base) {
  Box box;
  for (int64_t i = 0; i < rankOf(base.getType()); ++i)
    addFull(base, box);
  box.steps.clear();
  return box;
}

void Builder::addFull(mlir::Value base, Box &box) {
  box.lengths.push_back(lengthOf(base, static_cast<int64_t>(box.offsets.size())));
  box.offsets.push_back(index(0));
  box.steps.push_back(index(1));
}

void Builder::addPosition(const IndexItem &item, mlir::Value base, Box &box) {
  auto axis = static_cast<int64_t>(box.offsets.size());
  Location loc = location(item.span);
  mlir::Value position = buildValue(*item.value);
  if (!isa<IndexType>(position.getType())) {
    OperationState state(loc, "ptl.convert");
    state.addOperands(position);
    state.addTypes(builder_.getIndexType());
    state.addAttribute("round", builder_.getStringAttr("even"));
    state.addAttribute("saturate", builder_.getBoolAttr(false));
    position = builder_.create(state)->getResult(0);
  }
  if (item.needsCheck && binding_.checked)
    checkPosition(position, lengthOf(base, axis), loc);
  box.offsets.push_back(position);
  box.lengths.push_back(index(1));
  box.steps.push_back(index(1));
  box.dropped.push_back(axis);
}

void Builder::addRange(const IndexItem &item, mlir::Value base, Box &box) {
  auto axis = box.offsets.size();
  Location loc = location(item.span);
  Bound range = item.value ? buildExpr(*item.value) : Bound();
  if (range.kind != Bound::Kind::Range || item.range) {
    range.start = emitDim(item.range->start);
    range.length = emitDim(item.range->length);
    range.step = item.range->step ? emitDim(item.range->step) : index(1);
  }
  box.offsets.push_back(range.start);
  box.lengths.push_back(range.length);
  box.steps.push_back(range.step);
  box.strided |= !constantIs(range.step, 1);
  if (item.needsCheck && binding_.checked)
    checkRange(box, axis, lengthOf(base, static_cast<int64_t>(axis)), loc);
}

void Builder::addGather(const IndexItem &item, mlir::Value base, Box &box, bool isTarget) {
  auto axis = static_cast<int64_t>(box.offsets.size());
  mlir::Value indices = buildValue(*item.value);
  if (item.needsCheck && binding_.checked)
    checkGather(indices, lengthOf(base, axis), location(item.span));
  addFull(base, box);
  if (!isTarget) {
    box.gathers.push_back({indices, axis});
    return;
  }
  box.scatter = indices;
  box.scatterAxis = axis;
  box.lengths.back() = lengthOf(indices, 0);
}

bool Builder::constantIs(mlir::Value value, int64_t expected) {
  auto op = value.getDefiningOp<arith::ConstantIndexOp>();
  return op && op.value() == expected;
}

Builder::Box Builder::buildBox(const IndexExpr &expr, mlir::Value base, bool isTarget) {
  Box box;
  int64_t resultAxis = 0;
  for (const IndexItem &item : expr.items) {
    switch (item.kind) {
    case IndexItemKind::Position:
      addPosition(item, base, box);
      continue;
    case IndexItemKind::NewAxis:
      box.newAxes.push_back(resultAxis++);
      continue;
    case IndexItemKind::Range:
      addRange(item, base, box);
      break;
    case IndexItemKind::Full:
      addFull(base, box);
      break;
    case IndexItemKind::Gather:
      addGather(item, base, box, isTarget);
      break;
    case IndexItemKind::Rest: {
      size_t count = item.restCount + (item.restHasPrefix ? frame_->prefix.size() : 0);
      for (size_t i = 0; i < count; ++i)
        addFull(base, box);
      resultAxis += static_cast<int64_t>(count);
      continue;
    }
    }
    ++resultAxis;
  }
  while (static_cast<int64_t>(box.offsets.size()) < rankOf(base.getType()))
    addFull(base, box);
  if (!box.strided)
    box.steps.clear();
  return box;
}

/// The value of an index expression: a box, then positions taken by arrays, then new axes.
Bound Builder::buildIndex(const IndexExpr &expr) {
  Location loc = here(expr);
  Bound bound = buildExpr(*expr.base);
  if (bound.kind == Bound::Kind::Parts) { // A list with a constant position.
    auto position = expr.items.empty() ? std::nullopt : constantDim(expr.items[0].value->dim);
    bool inside =
        position && *position >= 0 && *position < static_cast<int64_t>(bound.parts.size());
    return inside ? bound.parts[static_cast<size_t>(*position)] : Bound();
  }
  mlir::Value base = bound.value;
  Box box = buildBox(expr, base, false);
  mlir::Value outside = expr.outside ? buildValue(*expr.outside) : mlir::Value();
  // Lengths come from the result's type; axes that later steps add or take are put back for the box
  // itself.
  mlir::Type result = irType(*expr.type);
  llvm::SmallVector<Extent> extents;
  if (auto array = dyn_cast<ArrayType>(result))
    extents.assign(array.getExtents().begin(), array.getExtents().end());
  for (int64_t axis : llvm::reverse(box.newAxes))
    extents.erase(extents.begin() + axis);
  llvm::ArrayRef<Extent> baseExtents = extentsOf(base.getType());
  auto afterDropping = [&](int64_t axis) {
    return axis - llvm::count_if(box.dropped, [&](int64_t dropped) { return dropped < axis; });
  };
  llvm::SmallVector<Extent> boxExtents = extents;
  for (const Box::Gather &gather : box.gathers)
    boxExtents[static_cast<size_t>(afterDropping(gather.axis))] = baseExtents[gather.axis];
  Place place = isa<ArrayType>(result) ? cast<ArrayType>(result).getPlace() : Place::Inferred;
  auto typeOf = [&](llvm::ArrayRef<Extent> shape) -> mlir::Type {
    if (shape.empty())
      return elementTypeOf(base.getType());
    return ArrayType::get(&context_, elementTypeOf(base.getType()), shape, place);
  };
  auto dropped = builder_.getDenseI64ArrayAttr(box.dropped);
  mlir::Value value = isa<RefType>(base.getType())
                          ? mlir::Value(make<LoadOp>(loc, typeOf(boxExtents), base, box.offsets,
                                                     box.lengths, box.steps, outside, dropped))
                          : mlir::Value(make<SliceOp>(loc, typeOf(boxExtents), base, box.offsets,
                                                      box.lengths, box.steps, outside, dropped));
  for (const Box::Gather &gather : box.gathers) {
    int64_t axis = afterDropping(gather.axis);
    boxExtents[static_cast<size_t>(axis)] = extents[static_cast<size_t>(axis)];
    value = make<TakeOp>(loc, typeOf(boxExtents), value, gather.index, axis);
  }
  if (box.newAxes.empty())
    return Bound::of(value);
  if (!isa<ArrayType>(value.getType())) { // A scalar gets its first axes.
    OperationState state(loc, "ptl.full");
    state.addOperands(value);
    state.addTypes(result);
    return Bound::of(builder_.create(state)->getResult(0));
  }
  return Bound::of(make<NewAxisOp>(loc, result, value, builder_.getDenseI64ArrayAttr(box.newAxes)));
}

} // namespace ptl::ir
