// Operations that move elements: views, reorderings, and the producers that assemble arrays.
#include "codegen/cpu/lower_shape.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_boxes.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

static View broadcastView(Lowering &l, View view, const Values &extents) {
  View result{view.element, view.data, extents, Values(extents.size(), l.index(0))};
  size_t shift = extents.size() - view.extents.size();
  for (size_t axis = 0; axis < view.extents.size(); ++axis)
    // An axis of 1 keeps its stride of 0, so that all positions read its element.
    if (constantOf(view.extents[axis]) != 1)
      result.strides[axis + shift] = view.strides[axis];
  return result;
}

// --- reshapes ------------------------------------------------------------------------------------

static bool haveSameLength(const ir::Extent &a, const ir::Extent &b) {
  // Unnamed lengths may differ, so only equal constants and equal symbols count.
  return a.isConstant() ? a.length == b.length : a.symbol && a.symbol == b.symbol;
}

static bool isSameNumber(Value a, Value b) {
  return a == b || (constantOf(a) && constantOf(a) == constantOf(b));
}

static bool isProductOf(Value product, Value x, Value y) {
  if (constantOf(x) == 1)
    return isSameNumber(product, y);
  if (constantOf(y) == 1)
    return isSameNumber(product, x);
  if (auto a = constantOf(x), b = constantOf(y), c = constantOf(product); a && b && c)
    return *a * *b == *c;
  // Lengths that are not constants are recognised by the multiplication that made them.
  auto made = product.getDefiningOp<arith::MulIOp>();
  return made &&
         ((made.getLhs() == x && made.getRhs() == y) || (made.getLhs() == y && made.getRhs() == x));
}

namespace {
/// Axes of two shapes with as many elements, of which those of one length at both ends are the same.
struct ReshapedAxes {
  SmallVector<std::pair<size_t, size_t>> same; ///< of the one and of the other shape
  SmallVector<size_t> from, to;                ///< the axes between them, without extents of 1

  ReshapedAxes(ArrayRef<ir::Extent> source, ArrayRef<ir::Extent> result) {
    auto longer = [](ArrayRef<ir::Extent> extents) {
      SmallVector<size_t> axes;
      for (auto [axis, extent] : llvm::enumerate(extents))
        if (!extent.isOne())
          axes.push_back(axis);
      return axes;
    };
    from = longer(source);
    to = longer(result);
    auto pairUp = [&](auto end, auto drop) {
      while (!from.empty() && !to.empty() && haveSameLength(source[end(from)], result[end(to)])) {
        same.push_back({end(from), end(to)});
        drop(from);
        drop(to);
      }
    };
    using Axes = SmallVector<size_t>;
    // Axes that are the same at an end keep their strides, whatever these are.
    pairUp([](Axes &axes) { return axes.back(); }, [](Axes &axes) { axes.pop_back(); });
    pairUp([](Axes &axes) { return axes.front(); }, [](Axes &axes) { axes.erase(axes.begin()); });
  }
};
} // namespace

// The elements of a view by the axes of another shape with as many elements, if steps from one to
// the next are known to be even along the axes that are put together.
static std::optional<View> reshapedView(Lowering &l, const View &view, ArrayRef<ir::Extent> source,
                                        ArrayRef<ir::Extent> result, const Values &extents) {
  View reshaped{view.element, view.data, extents, Values(extents.size(), l.index(0))};
  ReshapedAxes axes(source, result);
  for (auto [from, to] : axes.same)
    reshaped.strides[to] = view.strides[from];
  // Without axes on one side those of the other have one position each, or there are no elements.
  if (axes.from.empty() || axes.to.empty())
    return reshaped;
  // Axes can be put together where the stride of one is the whole length of the next.
  for (size_t i = 0; i + 1 < axes.from.size(); ++i)
    if (!isProductOf(view.strides[axes.from[i]], view.strides[axes.from[i + 1]],
                     view.extents[axes.from[i + 1]]))
      return std::nullopt;
  Value stride = view.strides[axes.from.back()];
  for (size_t axis : llvm::reverse(axes.to)) {
    reshaped.strides[axis] = stride;
    if (axis != axes.to.front())
      stride = memoMul(l, stride, extents[axis]);
  }
  return reshaped;
}

static std::optional<View> viewOfReshape(Lowering &l, ir::ReshapeOp op) {
  auto base = viewOf(l, op.getX());
  if (!base)
    return std::nullopt;
  return reshapedView(l, *base, arrayType(op.getX()).getExtents(),
                      arrayType(op.getResult()).getExtents(), extentsOf(l, op.getResult()));
}

// Elements are written in the order of the source, where the memory has the shape of the source, too.
bool produceReshape(Lowering &l, ir::ReshapeOp op, const View &dest, Value streamed) {
  // With other users the source has to be in memory anyway, and the copy then reads it there.
  if (!op.getX().hasOneUse())
    requireView(l, op.getX());
  auto at = reshapedView(l, dest, arrayType(op.getResult()).getExtents(),
                         arrayType(op.getX()).getExtents(), extentsOf(l, op.getX()));
  if (!at)
    return false;
  evaluateInto(l, op.getX(), *at, streamed);
  return true;
}

std::optional<View> viewOfOp(Lowering &l, Operation *op) {
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return viewOfReshape(l, reshape);
  if (auto load = dyn_cast<ir::LoadOp>(op)) {
    // Values beyond the edges are in no memory.
    if (load.getOutside())
      return std::nullopt;
    return boxView(l, *viewOf(l, load.getRef()), load.getOffsets(), load.getLengths(),
                   load.getSteps(), load.getDropped());
  }
  if (!isa<ir::SliceOp, ir::NewAxisOp, ir::CastOp, ir::TransposeOp, ir::BroadcastOp>(op))
    return std::nullopt;
  auto base = viewOf(l, op->getOperand(0));
  if (!base)
    return std::nullopt;
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    if (slice.getOutside())
      return std::nullopt;
    return boxView(l, *base, slice.getOffsets(), slice.getLengths(), slice.getSteps(),
                   slice.getDropped());
  }
  if (auto newAxis = dyn_cast<ir::NewAxisOp>(op)) {
    for (int64_t axis : newAxis.getAxes()) {
      base->extents.insert(base->extents.begin() + axis, l.index(1));
      base->strides.insert(base->strides.begin() + axis, l.index(0));
    }
    return base;
  }
  if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    View view{base->element, base->data, {}, {}, base->ahead};
    for (int64_t axis : transpose.getAxes()) {
      view.extents.push_back(base->extents[axis]);
      view.strides.push_back(base->strides[axis]);
    }
    return view;
  }
  if (isa<ir::BroadcastOp>(op))
    return broadcastView(l, *base, extentsOf(l, op->getResult(0)));
  return base;
}

// --- reorderings of pending values ---------------------------------------------------------------

std::optional<std::pair<Value, Coords>> sourceOf(Lowering &l, Operation *op, unsigned result,
                                                 const Coords &at) {
  Coords from = at;
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    if (slice.getOutside())
      return std::nullopt;
    from = boxCoords(l, slice.getOffsets(), slice.getSteps(), slice.getDropped(), at);
  } else if (auto newAxis = dyn_cast<ir::NewAxisOp>(op)) {
    // Erasing from the back keeps the numbers of the axes in front valid.
    for (int64_t axis : llvm::reverse(newAxis.getAxes()))
      from.erase(from.begin() + axis);
  } else if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    for (auto [to, axis] : llvm::enumerate(transpose.getAxes()))
      from[axis] = at[to];
  } else if (isa<ir::DeinterleaveOp>(op)) {
    from.back() = shifted(l, scaled(l, at.back(), l.index(2)), l.index(result));
  } else if (isa<ir::BroadcastOp>(op)) {
    from = broadcastCoords(l, op->getOperand(0), at);
  } else if (!isa<ir::CastOp>(op)) {
    return std::nullopt;
  }
  return std::pair(op->getOperand(0), from);
}

// --- elements that depend on their position ------------------------------------------------------

static Value triangleElement(Lowering &l, Operation *op, bool lower, Value diagonal,
                             const Coords &at) {
  const Emit &e = l.e;
  Value element = elementAt(l, op->getOperand(0), at);
  Type i64 = e.b.getI64Type();
  Value row = positionVector(l, at[at.size() - 2], i64), column = positionVector(l, at.back(), i64);
  if (isa<VectorType>(row.getType()) || isa<VectorType>(column.getType()))
    // Only one of the two coordinates varies by lanes, and a comparison needs both as vectors.
    row = toLanes(l, row), column = toLanes(l, column), element = toLanes(l, element);
  if (diagonal)
    // Moving the diagonal is the same as moving the row.
    row = e.add(row, e.splat(e.indexCast(scalarOf(l, diagonal), i64), row.getType()));
  Value keep = e.cmpi(lower ? CmpIPredicate::sle : CmpIPredicate::sge, column, row);
  return e.select(keep, element, e.zero(element.getType()));
}

static Value oneHotElement(Lowering &l, ir::OneHotOp op, const Coords &at) {
  const Emit &e = l.e;
  Coords position(at.begin(), at.end() - 1);
  Type elem = cast<ir::ArrayType>(op.getResult().getType()).getElementType();
  Value id = elementAt(l, op.getIds(), position);
  Type idType = cast<ir::ArrayType>(op.getIds().getType()).getElementType();
  Type i64 = e.b.getI64Type();
  // Numbers are compared in 64 bits, so that none of a short type is equal to a column that the
  // type cannot count.
  id = convertElem(e, id, idType, i64);
  Value column = positionVector(l, at.back(), i64);
  if (isa<VectorType>(id.getType()) || isa<VectorType>(column.getType()))
    id = toLanes(l, id), column = toLanes(l, column);
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
    Coord part = scaled(l, at[axis], stride);
    // A vector of positions cannot be written as a base and a step.
    if (part.vector || result.vector) {
      Type index = l.e.b.getIndexType();
      Value x = toLanes(l, positionVector(l, result, index));
      Value y = toLanes(l, positionVector(l, part, index));
      result = {{}, 0, l.e.add(x, y)};
    } else {
      result.base = memoAdd(l, result.base, part.base);
      result.step += part.step;
    }
    stride = memoMul(l, stride, extents[axis]);
  }
  return result;
}

static Value reshapeElement(Lowering &l, ir::ReshapeOp op, const Coords &at) {
  const Emit &e = l.e;
  // Without even strides the element is found by its row-major position.
  if (auto view = viewOfReshape(l, op))
    return loadAt(l, *view, at);
  Values extents = extentsOf(l, op.getResult()), source = extentsOf(l, op.getX());
  Coord linear = linearPosition(l, extents, at);
  View view = *viewOf(l, op.getX());
  // A dense source is one long row; another needs its coordinates back by division.
  Coords from(source.size());
  Value rest = positionVector(l, linear, e.b.getIndexType());
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
  return loadAt(l, view, from);
}

static Value indexElement(Lowering &l, ir::IndexOp op, const Coords &at) {
  Type elem = cast<ir::ArrayType>(op.getResult().getType()).getElementType();
  Coord position = shifted(l, at[0], scalarOf(l, op.getStart()));
  return positionVector(l, position, registerType(elem));
}

Value shapeElement(Lowering &l, Operation *op, unsigned result, const Coords &at, bool &handled) {
  const Emit &e = l.e;
  Type elem = cast<ir::ArrayType>(op->getResult(result).getType()).getElementType();
  Type reg = registerType(elem);
  if (isa<ir::ZerosOp>(op))
    return e.zero(reg);
  if (isa<ir::OnesOp>(op))
    return isFloatElem(elem) ? e.real(reg, 1.0) : e.integer(reg, 1);
  if (auto full = dyn_cast<ir::FullOp>(op))
    return scalarOf(l, full.getValue());
  if (auto positions = dyn_cast<ir::IndexOp>(op))
    return indexElement(l, positions, at);
  if (auto lower = dyn_cast<ir::TrilOp>(op))
    return triangleElement(l, op, true, lower.getDiagonal(), at);
  if (auto upper = dyn_cast<ir::TriuOp>(op))
    return triangleElement(l, op, false, upper.getDiagonal(), at);
  if (auto oneHot = dyn_cast<ir::OneHotOp>(op))
    return oneHotElement(l, oneHot, at);
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return reshapeElement(l, reshape, at);
  if (auto load = dyn_cast<ir::LoadOp>(op))
    return boxElementOutside(l, *viewOf(l, load.getRef()), load.getOffsets(), load.getSteps(),
                             load.getDropped(), load.getOutside(), at);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return boxElementOutside(l, *viewOf(l, slice.getSource()), slice.getOffsets(), slice.getSteps(),
                             slice.getDropped(), slice.getOutside(), at);
  handled = false;
  return {};
}

// --- producers -----------------------------------------------------------------------------------

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

// The margins are filled axis by axis, each as long as what the axes before it leave, so that nothing is written twice.
static void producePad(Lowering &l, ir::PadOp op, const View &dest) {
  Value fill = scalarOf(l, op.getValue());
  View inner = dest;
  auto amount = [&](OperandRange amounts, int64_t axis) {
    return amounts.empty() ? l.index(0) : scalarOf(l, amounts[axis]);
  };
  for (int64_t axis = 0; axis < dest.rank(); ++axis) {
    Value before = amount(op.getBefore(), axis), after = amount(op.getAfter(), axis);
    Value length = lengthOf(l, op.getX(), axis);
    auto fillFrom = [&](Value start, Value count) {
      View margin = partOf(l, inner, axis, start, count, {});
      if (constantOf(count) != 0)
        forAll(l, margin.extents, 1, {}, [&](Coords &at) { storeAt(l, margin, at, fill); });
    };
    fillFrom(l.index(0), before);
    fillFrom(l.e.add(before, length), after);
    inner = partOf(l, inner, axis, before, length, {});
  }
  evaluateInto(l, op.getX(), inner);
}

bool produceShape(Lowering &l, Operation *op, ArrayRef<View> dests) {
  const View &dest = dests[0];
  if (auto concat = dyn_cast<ir::ConcatOp>(op)) {
    auto axis = static_cast<int64_t>(concat.getAxis());
    Value start = l.index(0);
    for (Value part : concat.getXs()) {
      Value length = lengthOf(l, part, axis);
      evaluateInto(l, part, partOf(l, dest, axis, start, length, {}));
      start = l.e.add(start, length);
    }
    return true;
  }
  if (auto pad = dyn_cast<ir::PadOp>(op)) {
    producePad(l, pad, dest);
    return true;
  }
  if (auto both = dyn_cast<ir::InterleaveOp>(op)) {
    int64_t axis = dest.rank() - 1;
    Value half = lengthOf(l, both.getA(), axis);
    // Each half is written with a stride of two, in place.
    evaluateInto(l, both.getA(), partOf(l, dest, axis, l.index(0), half, l.index(2)));
    evaluateInto(l, both.getB(), partOf(l, dest, axis, l.index(1), half, l.index(2)));
    return true;
  }
  if (auto insert = dyn_cast<ir::InsertOp>(op)) {
    // The box is stored on top of the copy.
    evaluateInto(l, insert.getDest(), dest);
    View box = boxView(l, dest, insert.getOffsets(), insert.getLengths(), insert.getSteps(),
                       insert.getDropped());
    storeBox(l, insert.getValue(), box, insert.getIndex(),
             boxAxis(insert.getIndexAxis(), insert.getDropped()), "");
    return true;
  }
  return false;
}

} // namespace ptl::cpu
