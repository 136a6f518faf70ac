// Operations that move elements: views, reorderings, boxes, and the producers that assemble arrays.
#include "codegen/cpu/lowering.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

static bool isDropped(ArrayRef<int64_t> dropped, size_t axis) {
  return llvm::is_contained(dropped, static_cast<int64_t>(axis));
}

View Lowering::boxView(const View &base, ValueRange offsets, ValueRange lengths, ValueRange steps,
                       ArrayRef<int64_t> dropped) {
  View view{base.element, {}, {}, {}};
  Value offset = index(0);
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    offset = e.add(offset, e.mul(scalarOf(offsets[axis]), base.strides[axis]));
    if (isDropped(dropped, axis))
      continue;
    view.extents.push_back(scalarOf(lengths[axis]));
    Value stride = base.strides[axis];
    view.strides.push_back(steps.empty() ? stride : e.mul(stride, scalarOf(steps[axis])));
  }
  view.data = elementPointer(e, base.data, storageType(base.element), offset);
  return view;
}

View Lowering::broadcastView(View view, const Values &extents) {
  View result{view.element, view.data, extents, Values(extents.size(), index(0))};
  size_t shift = extents.size() - view.extents.size();
  for (size_t axis = 0; axis < view.extents.size(); ++axis)
    if (constantOf(view.extents[axis]) != 1)
      result.strides[axis + shift] = view.strides[axis];
  return result;
}

std::optional<View> Lowering::viewOfOp(Operation *op) {
  if (auto load = dyn_cast<ir::LoadOp>(op)) {
    if (load.getOutside())
      return std::nullopt;
    return boxView(*viewOf(load.getRef()), load.getOffsets(), load.getLengths(), load.getSteps(),
                   load.getDropped());
  }
  if (!isa<ir::SliceOp, ir::NewAxisOp, ir::CastOp, ir::TransposeOp, ir::BroadcastOp>(op))
    return std::nullopt;
  auto base = viewOf(op->getOperand(0));
  if (!base)
    return std::nullopt;
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    if (slice.getOutside())
      return std::nullopt;
    return boxView(*base, slice.getOffsets(), slice.getLengths(), slice.getSteps(),
                   slice.getDropped());
  }
  if (auto newAxis = dyn_cast<ir::NewAxisOp>(op)) {
    for (int64_t axis : newAxis.getAxes()) {
      base->extents.insert(base->extents.begin() + axis, index(1));
      base->strides.insert(base->strides.begin() + axis, index(0));
    }
    return base;
  }
  if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    View view{base->element, base->data, {}, {}};
    for (int64_t axis : transpose.getAxes()) {
      view.extents.push_back(base->extents[axis]);
      view.strides.push_back(base->strides[axis]);
    }
    return view;
  }
  if (isa<ir::BroadcastOp>(op))
    return broadcastView(*base, extentsOf(op->getResult(0)));
  return base;
}

// --- reorderings of pending values ---------------------------------------------------------------

static Coords boxCoords(Lowering &l, ValueRange offsets, ValueRange steps,
                        ArrayRef<int64_t> dropped, const Coords &at) {
  Coords result;
  size_t next = 0;
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    Value offset = l.scalarOf(offsets[axis]);
    if (isDropped(dropped, axis)) {
      result.push_back(Coord{offset});
      continue;
    }
    Coord coord = at[next++];
    if (!steps.empty())
      coord = l.scaled(coord, l.scalarOf(steps[axis]));
    result.push_back(l.shifted(coord, offset));
  }
  return result;
}

std::optional<std::pair<Value, Coords>> Lowering::sourceOf(Operation *op, unsigned result,
                                                           const Coords &at) {
  Coords from = at;
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    if (slice.getOutside())
      return std::nullopt;
    from = boxCoords(*this, slice.getOffsets(), slice.getSteps(), slice.getDropped(), at);
  } else if (auto newAxis = dyn_cast<ir::NewAxisOp>(op)) {
    for (int64_t axis : llvm::reverse(newAxis.getAxes()))
      from.erase(from.begin() + axis);
  } else if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    for (auto [to, axis] : llvm::enumerate(transpose.getAxes()))
      from[axis] = at[to];
  } else if (isa<ir::DeinterleaveOp>(op)) {
    from.back() = shifted(scaled(at.back(), index(2)), index(result));
  } else if (isa<ir::BroadcastOp>(op)) {
    from = broadcastCoords(op->getOperand(0), at);
  } else if (!isa<ir::CastOp>(op)) {
    return std::nullopt;
  }
  return std::pair(op->getOperand(0), from);
}

// --- elements that depend on their position ------------------------------------------------------

static Value triangleElement(Lowering &l, Operation *op, bool lower, Value diagonal,
                             const Coords &at) {
  const Emit &e = l.e;
  Value element = l.elementAt(op->getOperand(0), at);
  Type i64 = e.b.getI64Type();
  Value row = l.positionVector(at[at.size() - 2], i64), column = l.positionVector(at.back(), i64);
  if (isa<VectorType>(row.getType()) || isa<VectorType>(column.getType()))
    row = l.toLanes(row), column = l.toLanes(column), element = l.toLanes(element);
  if (diagonal)
    row = e.add(row, e.splat(e.indexCast(l.scalarOf(diagonal), i64), row.getType()));
  Value keep = e.cmpi(lower ? CmpIPredicate::sle : CmpIPredicate::sge, column, row);
  return e.select(keep, element, e.zero(element.getType()));
}

static Value oneHotElement(Lowering &l, ir::OneHotOp op, const Coords &at) {
  const Emit &e = l.e;
  Coords position(at.begin(), at.end() - 1);
  Type elem = cast<ir::ArrayType>(op.getResult().getType()).getElementType();
  Value id = l.elementAt(op.getIds(), position);
  Type idType = cast<ir::ArrayType>(op.getIds().getType()).getElementType();
  Type i64 = e.b.getI64Type();
  id = convertElem(e, id, idType, i64);
  Value column = l.positionVector(at.back(), i64);
  if (isa<VectorType>(id.getType()) || isa<VectorType>(column.getType()))
    id = l.toLanes(id), column = l.toLanes(column);
  Value hit = e.cmpi(CmpIPredicate::eq, id, column);
  Type reg = withShapeOf(hit.getType(), registerType(elem));
  Value one = isFloatElem(elem) ? e.real(reg, 1.0) : e.integer(reg, 1);
  return e.select(hit, one, e.zero(reg));
}

// The row-major position of `at` in an array of these extents, as a coordinate.
static Coord linearPosition(Lowering &l, const Values &extents, const Coords &at) {
  Coord result{l.index(0)};
  Value stride = l.index(1);
  for (int64_t axis = static_cast<int64_t>(extents.size()) - 1; axis >= 0; --axis) {
    Coord part = l.scaled(at[axis], stride);
    if (part.vector || result.vector) {
      Type index = l.e.b.getIndexType();
      Value x = l.toLanes(l.positionVector(result, index));
      Value y = l.toLanes(l.positionVector(part, index));
      result = {{}, 0, l.e.add(x, y)};
    } else {
      result.base = l.memoAdd(result.base, part.base);
      result.step += part.step;
    }
    stride = l.memoMul(stride, extents[axis]);
  }
  return result;
}

static Value reshapeElement(Lowering &l, ir::ReshapeOp op, const Coords &at) {
  const Emit &e = l.e;
  Values extents = l.extentsOf(op.getResult()), source = l.extentsOf(op.getX());
  Coord linear = linearPosition(l, extents, at);
  View view = *l.viewOf(op.getX());
  // A dense source is one long row; another needs its coordinates back by division.
  Coords from(source.size());
  Value rest = l.positionVector(linear, e.b.getIndexType());
  for (int64_t axis = static_cast<int64_t>(source.size()) - 1; axis >= 0; --axis) {
    bool vector = isa<VectorType>(rest.getType());
    Value part = rest;
    if (axis > 0) {
      // An extent of 0 has no elements, but its code must not divide by it.
      Value safe = e.b.createOrFold<arith::MaxSIOp>(e.loc, source[axis], l.index(1));
      Value extent = e.splat(safe, rest.getType());
      part = e.b.createOrFold<arith::RemUIOp>(e.loc, rest, extent);
      rest = e.b.createOrFold<arith::DivUIOp>(e.loc, rest, extent);
    }
    from[axis] = vector ? Coord{{}, 0, part} : Coord{part};
  }
  return l.loadAt(view, from);
}

static Value indexElement(Lowering &l, ir::IndexOp op, const Coords &at) {
  Type elem = cast<ir::ArrayType>(op.getResult().getType()).getElementType();
  Coord position = l.shifted(at[0], l.scalarOf(op.getStart()));
  return l.positionVector(position, registerType(elem));
}

Value Lowering::shapeElement(Operation *op, unsigned result, const Coords &at, bool &handled) {
  Type elem = cast<ir::ArrayType>(op->getResult(result).getType()).getElementType();
  Type reg = registerType(elem);
  if (isa<ir::ZerosOp>(op))
    return e.zero(reg);
  if (isa<ir::OnesOp>(op))
    return isFloatElem(elem) ? e.real(reg, 1.0) : e.integer(reg, 1);
  if (auto full = dyn_cast<ir::FullOp>(op))
    return scalarOf(full.getValue());
  if (auto positions = dyn_cast<ir::IndexOp>(op))
    return indexElement(*this, positions, at);
  if (auto lower = dyn_cast<ir::TrilOp>(op))
    return triangleElement(*this, op, true, lower.getDiagonal(), at);
  if (auto upper = dyn_cast<ir::TriuOp>(op))
    return triangleElement(*this, op, false, upper.getDiagonal(), at);
  if (auto oneHot = dyn_cast<ir::OneHotOp>(op))
    return oneHotElement(*this, oneHot, at);
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return reshapeElement(*this, reshape, at);
  if (auto load = dyn_cast<ir::LoadOp>(op))
    return boxElementOutside(op, *viewOf(load.getRef()), load.getOffsets(), load.getSteps(),
                             load.getDropped(), load.getOutside(), at);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return boxElementOutside(op, *viewOf(slice.getSource()), slice.getOffsets(), slice.getSteps(),
                             slice.getDropped(), slice.getOutside(), at);
  handled = false;
  return {};
}

// Positions beyond the edges read as `outside`: nothing is loaded there.
Value Lowering::boxElementOutside(Operation *op, const View &base, ValueRange offsets,
                                  ValueRange steps, ArrayRef<int64_t> dropped, Value outside,
                                  const Coords &at) {
  Coords from = boxCoords(*this, offsets, steps, dropped, at);
  Value inside;
  Type indexType = e.b.getIndexType();
  for (auto [coord, extent] : llvm::zip(from, base.extents)) {
    Value position = positionVector(coord, indexType);
    // As unsigned numbers, negative positions are beyond the end.
    Value good = e.cmpi(CmpIPredicate::ult, position, e.splat(extent, position.getType()));
    if (!inside)
      inside = good;
    else if (isa<VectorType>(inside.getType()) || isa<VectorType>(good.getType()))
      inside = e.bitAnd(toLanes(inside), toLanes(good));
    else
      inside = e.bitAnd(inside, good);
  }
  Value other = scalarOf(outside);
  if (!inside)
    return loadAt(base, from);
  if (!isa<VectorType>(inside.getType())) {
    Value scalar = inside;
    int64_t outerLanes = std::exchange(lanes_, 0);
    Value loaded = e.branch(
        scalar, other.getType(),
        [&](const Emit &) -> SmallVector<Value> {
          Scope scope(*this);
          return {loadAt(base, from)};
        },
        [&](const Emit &) -> SmallVector<Value> { return {other}; })[0];
    lanes_ = outerLanes;
    return loaded;
  }
  Value outer = mask_;
  mask_ = outer ? e.bitAnd(outer, inside) : inside;
  Value loaded = loadAt(base, from);
  mask_ = outer;
  return e.select(inside, loaded, toLanes(other));
}

// --- producers -----------------------------------------------------------------------------------

bool Lowering::hasProducer(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name.starts_with("ptl.reduce_") || name.starts_with("ptl.cum") ||
         isa<ir::MatmulOp, ir::EinsumOp, ir::SortOp, ir::ArgsortOp, ir::TopkOp, ir::ScatterOp,
             ir::ConcatOp, ir::PadOp, ir::InterleaveOp, ir::InsertOp, ir::UniqueOp, ir::SortedOp>(
             op);
}

static View partOf(Lowering &l, const View &view, int64_t axis, Value start, Value length,
                   Value step) {
  View part = view;
  Value offset = l.e.mul(start, view.strides[axis]);
  part.data = elementPointer(l.e, view.data, storageType(view.element), offset);
  part.extents[axis] = length;
  if (step)
    part.strides[axis] = l.e.mul(view.strides[axis], step);
  return part;
}

// The attribute counts axes of the base; the box lacks the dropped ones.
static int64_t boxAxis(std::optional<uint64_t> axis, ArrayRef<int64_t> dropped) {
  if (!axis)
    return -1;
  auto number = static_cast<int64_t>(*axis);
  return number - llvm::count_if(dropped, [&](int64_t d) { return d < number; });
}

static void producePad(Lowering &l, ir::PadOp op, const View &dest) {
  Value fill = l.scalarOf(op.getValue());
  l.forAll(dest.extents, 1, {}, [&](Coords &at) { l.storeAt(dest, at, fill); });
  View inner = dest;
  for (int64_t axis = 0; axis < dest.rank(); ++axis) {
    Value before = op.getBefore().empty() ? l.index(0) : l.scalarOf(op.getBefore()[axis]);
    inner = partOf(l, inner, axis, before, l.lengthOf(op.getX(), axis), {});
  }
  l.evaluateInto(op.getX(), inner);
}

bool Lowering::produceShape(Operation *op, ArrayRef<View> dests) {
  const View &dest = dests[0];
  if (auto concat = dyn_cast<ir::ConcatOp>(op)) {
    auto axis = static_cast<int64_t>(concat.getAxis());
    Value start = index(0);
    for (Value part : concat.getXs()) {
      Value length = lengthOf(part, axis);
      evaluateInto(part, partOf(*this, dest, axis, start, length, {}));
      start = e.add(start, length);
    }
    return true;
  }
  if (auto pad = dyn_cast<ir::PadOp>(op)) {
    producePad(*this, pad, dest);
    return true;
  }
  if (auto both = dyn_cast<ir::InterleaveOp>(op)) {
    int64_t axis = dest.rank() - 1;
    Value half = lengthOf(both.getA(), axis);
    evaluateInto(both.getA(), partOf(*this, dest, axis, index(0), half, index(2)));
    evaluateInto(both.getB(), partOf(*this, dest, axis, index(1), half, index(2)));
    return true;
  }
  if (auto insert = dyn_cast<ir::InsertOp>(op)) {
    evaluateInto(insert.getDest(), dest);
    View box = boxView(dest, insert.getOffsets(), insert.getLengths(), insert.getSteps(),
                       insert.getDropped());
    storeBox(insert.getValue(), box, insert.getIndex(),
             boxAxis(insert.getIndexAxis(), insert.getDropped()), "");
    return true;
  }
  return false;
}

// --- stores --------------------------------------------------------------------------------------

static Value combineAtomic(Lowering &l, StringRef atomic, Type elem, Value old, Value next) {
  const Emit &e = l.e;
  if (atomic == "add")
    return e.add(old, next);
  bool larger = atomic == "max";
  Value first;
  if (isFloatElem(elem))
    first = e.cmpf(larger ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, next, old);
  else if (isUnsigned(elem))
    first = e.cmpi(larger ? CmpIPredicate::ugt : CmpIPredicate::ult, next, old);
  else
    first = e.cmpi(larger ? CmpIPredicate::sgt : CmpIPredicate::slt, next, old);
  return e.select(first, next, old);
}

// One element combined with what is there, whatever other threads do: compare and exchange.
static void storeAtomic(Lowering &l, StringRef atomic, const View &view, const Coords &at,
                        Value value) {
  const Emit &e = l.e;
  Type stored = storageType(view.element);
  unsigned bytes = stored.getIntOrFloatBitWidth() / 8;
  Type bits = e.b.getIntegerType(bytes * 8);
  Value offset = l.index(0);
  for (auto [coord, stride] : llvm::zip(at, view.strides))
    offset = e.add(offset, e.mul(coord.base, stride));
  Value pointer = elementPointer(e, view.data, stored, offset);
  Value first = e.b.create<LLVM::LoadOp>(e.loc, bits, pointer, bytes);
  Block *current = e.b.getInsertionBlock();
  Region *region = current->getParent();
  Block *retry = e.b.createBlock(region, std::next(Region::iterator(current)), bits, e.loc);
  Block *done = e.b.createBlock(region, std::next(Region::iterator(retry)));
  e.b.setInsertionPointToEnd(current);
  e.b.create<cf::BranchOp>(e.loc, retry, first);
  e.b.setInsertionPointToEnd(retry);
  Value seen = retry->getArgument(0);
  Value old = fromStorage(e, e.bitcast(seen, stored), view.element);
  Value next = toStorage(e, combineAtomic(l, atomic, view.element, old, value), view.element);
  auto exchange = e.b.create<LLVM::AtomicCmpXchgOp>(
      e.loc, pointer, seen, e.bitcast(next, bits), LLVM::AtomicOrdering::monotonic,
      LLVM::AtomicOrdering::monotonic, StringRef(), bytes);
  Value now = e.b.create<LLVM::ExtractValueOp>(e.loc, exchange, 0);
  Value success = e.b.create<LLVM::ExtractValueOp>(e.loc, exchange, 1);
  e.b.create<cf::CondBranchOp>(e.loc, success, done, ValueRange{}, retry, ValueRange{now});
  e.b.setInsertionPointToEnd(done);
}

// Whether the value fills the box axis by axis, so that its producer may write to it.
static bool fills(Value value, int64_t rank, const Values &valueExtents, const Values &box) {
  if (static_cast<int64_t>(valueExtents.size()) != rank)
    return false;
  for (auto [from, to] : llvm::zip(valueExtents, box))
    if (constantOf(from) == 1 && constantOf(to) != 1)
      return false;
  return true;
}

void Lowering::storeBox(Value value, const View &box, Value indexArray, int64_t indexAxis,
                        StringRef atomic) {
  if (atomic.empty() && !indexArray && !isScalar(value) &&
      fills(value, box.rank(), extentsOf(value), box.extents))
    return evaluateInto(value, box);
  if (!isScalar(value))
    prepare(value);
  if (indexArray)
    prepare(indexArray);
  if (atomic.empty() && !indexArray) {
    forAll(box.extents, 1, value,
           [&](Coords &at) { storeAt(box, at, elementAt(value, broadcastCoords(value, at))); });
    return;
  }
  // Through an index array, or atomic: element by element.
  Coords at(box.rank());
  SmallVector<int64_t> axes(llvm::to_vector(llvm::seq<int64_t>(0, box.rank())));
  Scope scope(*this);
  forAxes(box.extents, axes, at, [&](Coords &at) {
    Coords to = at;
    if (indexArray) {
      Type elem = cast<ir::ArrayType>(indexArray.getType()).getElementType();
      Value position = elementAt(indexArray, {at[indexAxis]});
      to[indexAxis] = Coord{convertElem(e, position, elem, e.b.getIndexType())};
    }
    Value element = elementAt(value, broadcastCoords(value, at));
    if (atomic.empty())
      storeAt(box, to, element);
    else
      storeAtomic(*this, atomic, box, to, element);
  });
}

void Lowering::lowerStore(ir::StoreOp op) {
  View base = *viewOf(op.getRef());
  View box = boxView(base, op.getOffsets(), op.getLengths(), op.getSteps(), op.getDropped());
  asTask(op, [&] {
    storeBox(op.getValue(), box, op.getIndex(), boxAxis(op.getIndexAxis(), op.getDropped()),
             op.getAtomic().value_or(""));
  });
}

} // namespace ptl::cpu
