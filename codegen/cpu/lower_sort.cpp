// Orderings: a stable merge sort of keys with their positions, row by row.
#include "codegen/cpu/lower_sort.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/storage.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

namespace {
/// Keys and positions of one row, and room for as many.
struct SortBuffers {
  Type key;
  Value keys, positions, otherKeys, otherPositions;
};
} // namespace

static Value comesBefore(const Emit &e, Type elem, bool descending, Value x, Value y) {
  if (!isFloatElem(elem)) {
    auto predicate = isUnsigned(elem) ? (descending ? CmpIPredicate::ugt : CmpIPredicate::ult)
                                      : (descending ? CmpIPredicate::sgt : CmpIPredicate::slt);
    return e.cmpi(predicate, x, y);
  }
  Value ordered = e.cmpf(descending ? CmpFPredicate::OGT : CmpFPredicate::OLT, x, y);
  Value nanLast = e.bitAnd(e.bitNot(e.isNan(x)), e.isNan(y));
  return e.bitOr(ordered, nanLast);
}

// Merges the runs [low, middle) and [middle, high) of `from` into `to`.
static void mergeRuns(Lowering &l, const SortBuffers &s, Type elem, bool descending, Value low,
                      Value middle, Value high, Value last) {
  const Emit &e = l.e;
  Type i32 = e.b.getI32Type();
  Type stored = storageType(s.key);
  auto keyAt = [&](Value base, Value i) {
    return loadRaw(e, elementPointer(e, base, stored, i), stored, 0);
  };
  e.loop(low, high, l.index(1), {low, middle},
         [&](const Emit &, Value k, ValueRange v) -> SmallVector<Value> {
           Value i = v[0], j = v[1];
           // The heads are loaded even when a run is used up: from a legal place.
           Value left = keyAt(s.keys, e.b.create<arith::MinSIOp>(e.loc, i, last));
           Value right = keyAt(s.keys, e.b.create<arith::MinSIOp>(e.loc, j, last));
           Value haveLeft = e.cmpi(CmpIPredicate::slt, i, middle);
           Value rightGone = e.cmpi(CmpIPredicate::sge, j, high);
           Value notBefore = e.bitNot(comesBefore(e, elem, descending, fromStorage(e, right, s.key),
                                                  fromStorage(e, left, s.key)));
           Value takeLeft = e.bitAnd(haveLeft, e.bitOr(rightGone, notBefore));
           Value from = e.select(takeLeft, i, j);
           storeRaw(e, elementPointer(e, s.otherKeys, stored, k), e.select(takeLeft, left, right));
           Value position = loadRaw(e, elementPointer(e, s.positions, i32, from), i32, 0);
           storeRaw(e, elementPointer(e, s.otherPositions, i32, k), position);
           return {e.select(takeLeft, e.add(i, l.index(1)), i),
                   e.select(takeLeft, j, e.add(j, l.index(1)))};
         });
}

// Sorts the row; the result is in the keys and positions of what is returned.
static SortBuffers sortRow(Lowering &l, SortBuffers s, Type elem, bool descending, Value length) {
  const Emit &e = l.e;
  Value last = e.sub(length, l.index(1));
  auto passes =
      e.loop(l.index(0), l.index(40), l.index(1),
             {l.index(1), s.keys, s.positions, s.otherKeys, s.otherPositions},
             [&](const Emit &, Value, ValueRange v) -> SmallVector<Value> {
               Value width = v[0];
               SortBuffers now{s.key, v[1], v[2], v[3], v[4]};
               Value more = e.cmpi(CmpIPredicate::slt, width, length);
               Value limit = e.select(more, length, l.index(0));
               Value twice = e.add(width, width);
               e.loop(l.index(0), limit, twice, {}, [&](const Emit &, Value low, ValueRange) {
                 Value middle = e.b.create<arith::MinSIOp>(e.loc, e.add(low, width), length);
                 Value high = e.b.create<arith::MinSIOp>(e.loc, e.add(low, twice), length);
                 mergeRuns(l, now, elem, descending, low, middle, high, last);
                 return SmallVector<Value>();
               });
               auto choose = [&](Value next, Value old) {
                 return e.b.create<arith::SelectOp>(e.loc, more, next, old).getResult();
               };
               return {e.select(more, twice, width), choose(v[3], v[1]), choose(v[4], v[2]),
                       choose(v[1], v[3]), choose(v[2], v[4])};
             });
  return {s.key, passes[1], passes[2], passes[3], passes[4]};
}

Value uniqueFact(Lowering &l, Operation *op) {
  const Emit &e = l.e;
  View view = requireView(l, op->getOperand(0));
  Type elem = view.element, i32 = e.b.getI32Type(), stored = storageType(elem);
  Value length = view.extents[0];
  Values row = {length};
  Scope scope(l);
  View keys = allocate(l, elem, row), otherKeys = allocate(l, elem, row);
  View positions = allocate(l, i32, row), otherPositions = allocate(l, i32, row);
  e.loop(l.index(0), length, l.index(1), {}, [&](const Emit &, Value i, ValueRange) {
    Scope inner(l);
    storeAt(l, keys, {Coord{i}}, loadAt(l, view, {Coord{i}}));
    storeAt(l, positions, {Coord{i}}, e.indexCast(i, i32));
    return SmallVector<Value>();
  });
  SortBuffers buffers{elem, keys.data, positions.data, otherKeys.data, otherPositions.data};
  SortBuffers sorted = sortRow(l, buffers, elem, false, length);
  auto keyAt = [&](Value i) {
    return loadRaw(e, elementPointer(e, sorted.keys, stored, i), stored, 0);
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
  const Emit &e = l.e;
  if (!isa<ir::SortOp, ir::ArgsortOp, ir::TopkOp>(op))
    return false;
  Value operand = op->getOperand(0);
  prepare(l, operand);
  auto type = cast<ir::ArrayType>(operand.getType());
  Values extents = extentsOf(l, operand);
  auto axisAttr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = axisAttr ? axisAttr.getInt() : type.getRank() - 1;
  auto flag = op->getAttrOfType<BoolAttr>("descending");
  bool descending = isa<ir::TopkOp>(op) || (flag && flag.getValue());
  Type elem = type.getElementType(), i32 = e.b.getI32Type(), stored = storageType(elem);
  Values row = {extents[axis]};
  View keys = allocate(l, elem, row), otherKeys = allocate(l, elem, row);
  View positions = allocate(l, i32, row), otherPositions = allocate(l, i32, row);
  SmallVector<int64_t> others;
  for (int64_t n = 0; n < type.getRank(); ++n)
    if (n != axis)
      others.push_back(n);
  Coords at(type.getRank());
  Scope scope(l);
  forAxes(l, extents, others, at, [&](Coords &at) {
    e.loop(l.index(0), extents[axis], l.index(1), {}, [&](const Emit &, Value i, ValueRange) {
      Scope inner(l);
      at[axis] = Coord{i};
      storeAt(l, keys, {Coord{i}}, elementAt(l, operand, at));
      storeAt(l, positions, {Coord{i}}, e.indexCast(i, i32));
      return SmallVector<Value>();
    });
    SortBuffers buffers{elem, keys.data, positions.data, otherKeys.data, otherPositions.data};
    SortBuffers sorted = sortRow(l, buffers, elem, descending, extents[axis]);
    Value count = dests[0].extents[axis];
    e.loop(l.index(0), count, l.index(1), {}, [&](const Emit &, Value i, ValueRange) {
      Scope inner(l);
      Coords to = at;
      to[axis] = Coord{i};
      Value key = loadRaw(e, elementPointer(e, sorted.keys, stored, i), stored, 0);
      Value position = loadRaw(e, elementPointer(e, sorted.positions, i32, i), i32, 0);
      if (isa<ir::ArgsortOp>(op))
        storeAt(l, dests[0], to, position);
      else
        storeAt(l, dests[0], to, fromStorage(e, key, elem));
      if (isa<ir::TopkOp>(op))
        storeAt(l, dests[1], to, position);
      return SmallVector<Value>();
    });
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
