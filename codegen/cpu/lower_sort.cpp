// Orderings: rows are brought in order by the runtime, and read and written where they are if they are contiguous there.
#include "codegen/cpu/lower_sort.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/runtime_values.h"
#include "codegen/cpu/storage.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

// The address of a row along `axis`, null if its elements are not neighbours in memory.
static Value contiguousRow(Lowering &l, const View &view, Coords at, int64_t axis) {
  // The runtime takes rows of neighbouring elements; a row of one element has no stride.
  if (constantOf(view.strides[axis]) != 1 && constantOf(view.extents[axis]) != 1)
    return {};
  Value offset = l.index(0);
  for (auto [n, coord] : llvm::enumerate(at))
    if (static_cast<int64_t>(n) != axis)
      offset = l.e.add(offset, l.e.mul(coord.base, view.strides[n]));
  return elementPointer(l.e, view.data, storageType(view.element), offset);
}

namespace {
/// A result of an ordering: where its rows are written, and by way of which memory if they are not contiguous.
struct RowTarget {
  View dest;
  std::optional<View> buffer;

  Value begin(Lowering &l, const Coords &at, int64_t axis) {
    if (Value row = contiguousRow(l, dest, at, axis))
      return row;
    if (!buffer)
      buffer = allocate(l, dest.element, {dest.extents[axis]});
    return buffer->data;
  }
  void finish(Lowering &l, const Coords &at, int64_t axis) const {
    if (!buffer)
      return;
    Coords to = at;
    forLanes(l, dest.extents, axis, to, 1,
             [&](Coords &to) { storeAt(l, dest, to, loadAt(l, *buffer, {to[axis]})); });
  }
};
} // namespace

static void callOrder(Lowering &l, Value row, Value length, Type elem, bool descending, Value count,
                      Value values, Value positions) {
  const Emit &e = l.e;
  Type i64 = e.b.getI64Type();
  Value null = e.b.create<LLVM::ZeroOp>(e.loc, pointerType(e.b.getContext()));
  e.call("ptl_rt_order", {},
         {l.context, row, e.indexCast(length, i64), e.i32(elemCode(elem)), e.i32(descending),
          e.indexCast(count, i64), values ? values : null, positions ? positions : null});
}

Value uniqueFact(Lowering &l, Operation *op) {
  const Emit &e = l.e;
  View view = requireView(l, op->getOperand(0));
  Type stored = storageType(view.element);
  Value length = view.extents[0];
  Scope scope(l);
  View row = view;
  if (constantOf(view.strides[0]) != 1) {
    row = allocate(l, view.element, {length});
    forAll(l, row.extents, 1, {}, [&](Coords &at) { storeAt(l, row, at, loadAt(l, view, at)); });
  }
  View sorted = allocate(l, view.element, {length});
  callOrder(l, row.data, length, view.element, false, length, sorted.data, {});
  // Once they are sorted, equal elements are neighbours.
  auto keyAt = [&](Value i) {
    return loadRaw(e, elementPointer(e, sorted.data, stored, i), stored, 0);
  };
  auto result = e.loop(l.index(1), length, l.index(1), e.integer(e.b.getI1Type(), 1),
                       [&](const Emit &, Value i, ValueRange carried) -> SmallVector<Value> {
                         Value before = keyAt(e.sub(i, l.index(1)));
                         Value differs = e.cmpi(CmpIPredicate::ne, before, keyAt(i));
                         return {e.bitAnd(carried[0], differs)};
                       });
  return result[0];
}

bool produceSort(Lowering &l, Operation *op, ArrayRef<View> dests) {
  if (!isa<ir::SortOp, ir::ArgsortOp, ir::TopkOp>(op))
    return false;
  Value operand = op->getOperand(0);
  prepare(l, operand);
  auto type = cast<ir::ArrayType>(operand.getType());
  Values extents = extentsOf(l, operand);
  auto axisAttr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = axisAttr ? axisAttr.getInt() : type.getRank() - 1;
  auto flag = op->getAttrOfType<BoolAttr>("descending");
  // The largest elements are the first of a descending order.
  bool descending = isa<ir::TopkOp>(op) || (flag && flag.getValue());
  Type elem = type.getElementType();
  SmallVector<int64_t> others;
  for (int64_t n = 0; n < type.getRank(); ++n)
    if (n != axis)
      others.push_back(n);
  SmallVector<RowTarget> targets;
  for (const View &dest : dests)
    targets.push_back({dest, std::nullopt});
  Coords at(type.getRank());
  // Each round has its own loads.
  Scope scope(l);
  std::optional<View> known = viewOf(l, operand), elements;
  // Memory for rows that are not as the runtime wants them is the same for all rows.
  Coords zeros(type.getRank(), Coord{l.index(0)});
  if (!known || !contiguousRow(l, *known, zeros, axis))
    elements = allocate(l, elem, {extents[axis]});
  for (RowTarget &target : targets)
    target.begin(l, zeros, axis);
  forAxes(l, extents, others, at, [&](Coords &at) {
    Value row;
    if (elements) {
      Coords from = at;
      forLanes(l, extents, axis, from, costOf(l, operand), [&](Coords &from) {
        storeAt(l, *elements, {from[axis]}, elementAt(l, operand, from));
      });
      row = elements->data;
    } else {
      row = contiguousRow(l, *known, at, axis);
    }
    Value first = targets.front().begin(l, at, axis);
    Value values = isa<ir::ArgsortOp>(op) ? Value() : first;
    Value positions = isa<ir::ArgsortOp>(op) ? first : Value();
    if (isa<ir::TopkOp>(op))
      positions = targets.back().begin(l, at, axis);
    callOrder(l, row, extents[axis], elem, descending, dests[0].extents[axis], values, positions);
    for (const RowTarget &target : targets)
      target.finish(l, at, axis);
  });
  return true;
}

Value sortedFact(Lowering &l, Operation *op) {
  const Emit &e = l.e;
  View view = requireView(l, op->getOperand(0));
  auto result = e.loop(l.index(1), view.extents[0], l.index(1), e.integer(e.b.getI1Type(), 1),
                       [&](const Emit &, Value i, ValueRange carried) -> SmallVector<Value> {
                         Scope scope(l);
                         Value now = loadAt(l, view, {Coord{i}});
                         Value before = loadAt(l, view, {Coord{e.sub(i, l.index(1))}});
                         auto predicate =
                             isUnsigned(view.element) ? CmpIPredicate::ule : CmpIPredicate::sle;
                         return {e.bitAnd(carried[0], e.cmpi(predicate, before, now))};
                       });
  return result[0];
}

} // namespace ptl::cpu
