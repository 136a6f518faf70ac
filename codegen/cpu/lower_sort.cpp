// Orderings: a stable merge sort of keys with their positions, row by row.
#include "codegen/cpu/lower_sort.h"

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
  View view = l.requireView(op->getOperand(0));
  Type elem = view.element, i32 = e.b.getI32Type(), stored = storageType(elem);
  Value length = view.extents[0];
  Values row = {length};
  Lowering::Scope scope(l);
  View keys = l.allocate(elem, row), otherKeys = l.allocate(elem, row);
  View positions = l.allocate(i32, row), otherPositions = l.allocate(i32, row);
  e.loop(l.index(0), length, l.index(1), {}, [&](const Emit &, Value i, ValueRange) {
    Lowering::Scope inner(l);
    l.storeAt(keys, {Coord{i}}, l.loadAt(view, {Coord{i}}));
    l.storeAt(positions, {Coord{i}}, e.indexCast(i, i32));
    return SmallVector<Value>();
  });
  SortBuffers buffers{elem, keys.data, positions.data, otherKeys.data, otherPositions.data};
  SortBuffers sorted = sortRow(l, buffers, elem, false, length);
  auto keyAt = [&](Value i) {
    return loadRaw(e, elementPointer(e, sorted.keys, stored, i), stored, 0);
  };
  auto result = e.loop(l.index(1), length, l.index(1), e.boolean(true),
                       [&](const Emit &, Value i, ValueRange carried) -> SmallVector<Value> {
                         Value before = keyAt(e.sub(i, l.index(1)));
                         Value differs = e.cmpi(CmpIPredicate::ne, before, keyAt(i));
                         return {e.bitAnd(carried[0], differs)};
                       });
  return result[0];
}

bool Lowering::produceSort(Operation *op, ArrayRef<View> dests) {
  if (!isa<ir::SortOp, ir::ArgsortOp, ir::TopkOp>(op))
    return false;
  Value operand = op->getOperand(0);
  prepare(operand);
  auto type = cast<ir::ArrayType>(operand.getType());
  Values extents = extentsOf(operand);
  auto axisAttr = op->getAttrOfType<IntegerAttr>("axis");
  int64_t axis = axisAttr ? axisAttr.getInt() : type.getRank() - 1;
  auto flag = op->getAttrOfType<BoolAttr>("descending");
  bool descending = isa<ir::TopkOp>(op) || (flag && flag.getValue());
  Type elem = type.getElementType(), i32 = e.b.getI32Type(), stored = storageType(elem);
  Values row = {extents[axis]};
  View keys = allocate(elem, row), otherKeys = allocate(elem, row);
  View positions = allocate(i32, row), otherPositions = allocate(i32, row);
  SmallVector<int64_t> others;
  for (int64_t n = 0; n < type.getRank(); ++n)
    if (n != axis)
      others.push_back(n);
  Coords at(type.getRank());
  Scope scope(*this);
  forAxes(extents, others, at, [&](Coords &at) {
    e.loop(index(0), extents[axis], index(1), {}, [&](const Emit &, Value i, ValueRange) {
      Scope inner(*this);
      at[axis] = Coord{i};
      storeAt(keys, {Coord{i}}, elementAt(operand, at));
      storeAt(positions, {Coord{i}}, e.indexCast(i, i32));
      return SmallVector<Value>();
    });
    SortBuffers buffers{elem, keys.data, positions.data, otherKeys.data, otherPositions.data};
    SortBuffers sorted = sortRow(*this, buffers, elem, descending, extents[axis]);
    Value count = dests[0].extents[axis];
    e.loop(index(0), count, index(1), {}, [&](const Emit &, Value i, ValueRange) {
      Scope inner(*this);
      Coords to = at;
      to[axis] = Coord{i};
      Value key = loadRaw(e, elementPointer(e, sorted.keys, stored, i), stored, 0);
      Value position = loadRaw(e, elementPointer(e, sorted.positions, i32, i), i32, 0);
      if (isa<ir::ArgsortOp>(op))
        storeAt(dests[0], to, position);
      else
        storeAt(dests[0], to, fromStorage(e, key, elem));
      if (isa<ir::TopkOp>(op))
        storeAt(dests[1], to, position);
      return SmallVector<Value>();
    });
  });
  return true;
}

} // namespace ptl::cpu
