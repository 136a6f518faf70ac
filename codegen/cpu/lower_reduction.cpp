// Reductions.
#include "codegen/cpu/lower_reduction.h"
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_search.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/storage.h"
#include "codegen/cpu/tile_ahead.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"

using namespace mlir;

namespace ptl::cpu {

namespace {
/// What one reduction does with the elements of its operand.
struct FoldedOperand {
  Combiner c;
  Value operand;
  Type result;                ///< of an element
  std::optional<View> stored; ///< where elements are kept for other uses
  std::function<void(const Coords &, Value)> store;
};

/// Reductions along the same axes that are emitted as one pass.
struct Reduction {
  Lowering &l;
  SmallVector<FoldedOperand, 2> folds;
  Values extents;
  ArrayRef<int64_t> reduced;
  SmallVector<int64_t> axes; // reduced, without the inner one
  int64_t inner;             // axis of vectors, -1: none
  bool horizontal;           // the inner axis is reduced
  int64_t cost;              // of an element of each
  Value count;               // of elements that make one result

  size_t number(Values &sums) const { return sums.size() / folds.size(); }
  Values identities(int64_t several, bool ofVectors) const;
  Values loopOver(ArrayRef<int64_t> rest, Coords &at, Values sums) const;
  Values innerLoop(Coords &at, Values sums) const;
  Values ofLanes(Coords &at) const;
  void columns(Coords &at, ArrayRef<View> sums) const;
  void take(Coords &at, Values &sums, size_t n, Value start, Value mask) const;
  void foldRows(ArrayRef<int64_t> rest, Coords &at, ArrayRef<View> sums) const;
  void addRows(Coords &at, int64_t axis, Value first, int64_t count, ArrayRef<View> sums) const;
  void finish(const Coords &at, ArrayRef<Value> sums) const;
  void whole(Coords &at) const;
};
} // namespace

// Where no position says otherwise, the first partial results of each fold follow those of the one before.
Values Reduction::identities(int64_t several, bool ofVectors) const {
  Values sums;
  for (const FoldedOperand &fold : folds) {
    Type shape = ofVectors ? Type(VectorType::get({l.maxLanes}, fold.c.acc)) : fold.c.acc;
    sums.append(several, fold.c.identity(l.e, shape));
  }
  return sums;
}

// One step along the inner axis from `start`, for the partial result `n` of each fold.
void Reduction::take(Coords &at, Values &sums, size_t n, Value start, Value mask) const {
  at[inner] = Coord{start, 1, {}};
  Values elements;
  {
    Scope scope(l);
    withLanes(l, l.maxLanes, mask, [&] {
      for (const FoldedOperand &fold : folds) {
        Value x = toLanes(l, elementAt(l, fold.operand, at));
        if (fold.stored)
          storeAt(l, *fold.stored, at, x);
        elements.push_back(fold.c.accept(l.e, x));
      }
    });
  }
  size_t several = number(sums);
  for (auto [k, fold] : llvm::enumerate(folds)) {
    Value &sum = sums[k * several + n];
    Value next = fold.c.combine(l.e, sum, elements[k]);
    // Lanes beyond the end hold zeros, which are not the identity of every combiner.
    sum = mask ? l.e.select(mask, next, sum) : next;
  }
}

Values Reduction::innerLoop(Coords &at, Values sums) const {
  // With this coordinate unknown, everything that does not depend on it is emitted in front of the
  // loop.
  at[inner] = Coord();
  for (const FoldedOperand &fold : folds)
    hoist(l, fold.operand, at);
  // Elements that have several partial results cost little, so that memory is what they wait for.
  size_t several = number(sums);
  RowFetch how = several > 1 ? RowFetch::Alone : RowFetch::None;
  auto step = [&](ArrayRef<Value> starts, Value mask, Values carried) {
    for (auto [n, start] : llvm::enumerate(starts))
      fetchingRows(l, how, n, [&] { take(at, carried, n, start, mask); });
    return carried;
  };
  return loopOfVectors(l, extents[inner], static_cast<int64_t>(several), sums, step);
}

// The fold along the inner axis of the rows at the present lanes, which lie along another axis.
Values Reduction::ofLanes(Coords &at) const {
  Values none;
  for (const FoldedOperand &fold : folds) {
    Type shape = l.lanes ? Type(VectorType::get({l.lanes}, fold.c.acc)) : fold.c.acc;
    none.push_back(fold.c.identity(l.e, shape));
  }
  auto sums = l.e.loop(l.index(0), extents[inner], l.index(1), none,
                       [&](const Emit &e, Value i, ValueRange sum) -> SmallVector<Value> {
                         Scope scope(l);
                         at[inner] = Coord{i};
                         SmallVector<Value> next;
                         for (auto [k, fold] : llvm::enumerate(folds)) {
                           Value element =
                               fold.c.accept(e, toLanes(l, elementAt(l, fold.operand, at)));
                           next.push_back(fold.c.combine(e, sum[k], element));
                         }
                         return next;
                       });
  return Values(sums.begin(), sums.end());
}

Values Reduction::loopOver(ArrayRef<int64_t> rest, Coords &at, Values sums) const {
  const Emit &e = l.e;
  if (rest.empty()) {
    // The inner axis is the last to be looped over, as its elements are neighbours.
    if (horizontal)
      return innerLoop(at, sums);
    for (auto [sum, fold] : llvm::zip(sums, folds))
      sum = fold.c.combine(e, sum, fold.c.accept(e, elementAt(l, fold.operand, at)));
    return sums;
  }
  int64_t axis = rest.front();
  auto results = e.loop(l.index(0), extents[axis], l.index(1), sums,
                        [&](const Emit &, Value i, ValueRange carried) {
                          Scope scope(l);
                          at[axis] = Coord{i};
                          Values next = loopOver(rest.drop_front(), at, Values(carried));
                          return SmallVector<Value>(next.begin(), next.end());
                        });
  return Values(results.begin(), results.end());
}

// Rows that are added at the same time, so that partial results are loaded and stored less often, and that memory is read at several
// places; fewer where an element takes much code.
static constexpr int64_t kRowsAtOnce = 8, kCostlyRowsAtOnce = 4;

Values rowsFrom(Lowering &l, Value operand, Coords &at, int64_t axis, Value first, int64_t count) {
  Values rows;
  for (int64_t n = 0; n < count; ++n) {
    rows.push_back(l.e.add(first, l.index(n)));
    at[axis] = Coord{rows[n]};
    hoist(l, operand, at);
  }
  return rows;
}

// Adds rows to partial results in memory: rows are read from end to end, as memory gives them fastest.
void Reduction::addRows(Coords &at, int64_t axis, Value first, int64_t count,
                        ArrayRef<View> sums) const {
  const Emit &e = l.e;
  at[inner] = Coord();
  Values rows = rowsFrom(l, folds[0].operand, at, axis, first, count);
  for (Value row : rows)
    for (const FoldedOperand &fold : ArrayRef(folds).drop_front()) {
      at[axis] = Coord{row};
      hoist(l, fold.operand, at);
    }
  // Two vectors at a time overlap their loads; costly elements would be too much code twice.
  int64_t several = cost <= kCheapToFold ? 2 : 1;
  auto addAt = [&](size_t n) {
    // One load and one store of a partial result serve several rows.
    Values now;
    for (const View &view : sums)
      now.push_back(loadAt(l, view, {at[inner]}));
    fetchingRows(l, RowFetch::SideBySide, n, [&] {
      for (Value row : rows) {
        at[axis] = Coord{row};
        for (auto [sum, fold] : llvm::zip(now, folds)) {
          Value element = fold.c.accept(e, toLanes(l, elementAt(l, fold.operand, at)));
          sum = fold.c.combine(e, sum, element);
        }
      }
    });
    for (auto [sum, view] : llvm::zip(now, sums))
      storeAt(l, view, {at[inner]}, sum);
  };
  loopOfVectors(l, extents[inner], several, {}, [&](ArrayRef<Value> starts, Value mask, Values) {
    for (auto [n, start] : llvm::enumerate(starts)) {
      Scope scope(l);
      at[inner] = Coord{start, 1, {}};
      withLanes(l, l.maxLanes, mask, [&] { addAt(n); });
    }
    return Values();
  });
}

void Reduction::foldRows(ArrayRef<int64_t> rest, Coords &at, ArrayRef<View> sums) const {
  const Emit &e = l.e;
  int64_t axis = rest.front();
  auto loop = [&](Value from, Value to, int64_t step) {
    e.loop(from, to, l.index(step), {}, [&](const Emit &, Value i, ValueRange) {
      Scope scope(l);
      at[axis] = Coord{i};
      // Only the innermost of the reduced axes takes several rows at once.
      if (rest.size() == 1)
        addRows(at, axis, i, step, sums);
      else
        foldRows(rest.drop_front(), at, sums);
      return SmallVector<Value>();
    });
  };
  if (rest.size() > 1)
    return loop(l.index(0), extents[axis], 1);
  Value rows = extents[axis];
  int64_t together = cost <= kCheapToFold ? kRowsAtOnce : kCostlyRowsAtOnce;
  Value whole = e.sub(rows, e.b.createOrFold<arith::RemUIOp>(e.loc, rows, l.index(together)));
  loop(l.index(0), whole, together);
  loop(whole, rows, 1);
}

// A vector along the row would be mostly empty.
static constexpr int64_t kShortRow = 4;
// Elements of as many rows as a vector has lanes are gathered, which from some length on takes longer than to fold the lanes of a vector of
// each row, and always does where that vector is full.
static ShortRows shortFolds(const Lowering &l) {
  return {kShortRow, std::min<int64_t>(8, l.maxLanes - 1)};
}

std::optional<int64_t> lastOfSeveral(const Values &extents, ArrayRef<int64_t> axes) {
  for (int64_t axis : llvm::reverse(axes))
    if (constantOf(extents[axis]) != 1)
      return axis;
  return std::nullopt;
}

void forShortRows(Lowering &l, const Values &extents, ArrayRef<int64_t> kept, int64_t beside,
                  Coords &at, llvm::function_ref<void(Coords &)> each) {
  SmallVector<int64_t> others;
  llvm::copy_if(kept, std::back_inserter(others), [&](int64_t axis) { return axis != beside; });
  forAxes(l, extents, others, at,
          [&](Coords &at) { forLanes(l, extents, beside, at, kCheapToFold, each); });
}

// Runs the one where rows are short but not empty, and else the other.
void whereShort(Lowering &l, ShortRows limits, Value length, Value rows,
                llvm::function_ref<void()> shortRows, llvm::function_ref<void()> everyRow) {
  const Emit &e = l.e;
  std::optional<int64_t> known = constantOf(length);
  if (known == 0 || (known && *known > limits.ofMany))
    return everyRow();
  if (known && *known <= limits.ofAny)
    return shortRows();
  auto scoped = [&](llvm::function_ref<void()> emit) {
    return [&l, emit](const Emit &) -> SmallVector<Value> {
      Scope scope(l);
      emit();
      return {};
    };
  };
  Value areMany = e.cmpi(arith::CmpIPredicate::sge, rows, l.index(l.maxLanes));
  Value limit = e.select(areMany, l.index(limits.ofMany), l.index(limits.ofAny));
  // As a number without a sign, what is before 0 is large.
  Value isShort = e.cmpi(arith::CmpIPredicate::ult, e.sub(length, l.index(1)), limit);
  e.branch(isShort, {}, scoped(shortRows), scoped(everyRow));
}

// The results at a position of the axes that are kept.
void Reduction::finish(const Coords &at, ArrayRef<Value> sums) const {
  Coords to = at;
  for (int64_t axis : reduced)
    // A reduced axis has one position in the result, or none.
    to[axis] = Coord{l.index(0)};
  for (auto [fold, sum] : llvm::zip(folds, sums))
    fold.store(to, fold.c.finish(l.e, sum, count, fold.result));
}

// Columns whose partial results are in memory.
void Reduction::columns(Coords &at, ArrayRef<View> sums) const {
  for (auto [fold, view] : llvm::zip(folds, sums))
    forAll(l, view.extents, 1, {},
           [&](Coords &to) { storeAt(l, view, to, toLanes(l, fold.c.identity(l.e, fold.c.acc))); });
  foldRows(axes, at, sums);
  forLanes(l, extents, inner, at, 1, [&](Coords &at) {
    Values all;
    for (const View &view : sums)
      all.push_back(loadAt(l, view, {at[inner]}));
    finish(at, all);
  });
}

// Partial results of a row are vectors. Several of them take turns where an element costs little, so that an addition need not wait for
// the one before it.
void Reduction::whole(Coords &at) const {
  int64_t several = horizontal && cost <= kCheapToFold ? 4 : 1;
  Values sums = loopOver(axes, at, identities(several, horizontal)), all;
  for (auto [k, fold] : llvm::enumerate(folds)) {
    ArrayRef<Value> own = ArrayRef(sums).slice(k * several, several);
    Value sum = own[0];
    for (Value other : own.drop_front())
      sum = fold.c.combine(l.e, sum, other);
    all.push_back(horizontal ? fold.c.horizontal(l.e, sum) : sum);
  }
  finish(at, all);
}

/// Of a reduction along its last axes, which are short: the axis that vectors go along. Nothing for any other.
static std::optional<int64_t> axisBesideShortRows(const Values &extents,
                                                  ArrayRef<int64_t> reduced) {
  int64_t elements = 1;
  for (int64_t axis : reduced) {
    std::optional<int64_t> extent = constantOf(extents[axis]);
    // Only short rows of known length are folded for several rows at once, since their loop is
    // written out.
    if (!extent || *extent == 0 || (elements *= *extent) > kShortRow)
      return std::nullopt;
  }
  int64_t inner = innerAxis(extents);
  if (elements == 1 || !llvm::is_contained(reduced, inner))
    return std::nullopt;
  for (int64_t axis = inner - 1; axis >= 0; --axis)
    if (!llvm::is_contained(reduced, axis) && constantOf(extents[axis]) != 1)
      return axis;
  return std::nullopt;
}

/// The positions along the reduced axes one after the other, each for all lanes.
static Value foldedShort(Lowering &l, const Combiner &c, Value operand, const Values &extents,
                         ArrayRef<int64_t> reduced, Coords &at, Value sum) {
  if (reduced.empty()) {
    Value x = c.accept(l.e, toLanes(l, elementAt(l, operand, at)));
    return sum ? c.combine(l.e, sum, x) : x;
  }
  for (int64_t i = 0; i < *constantOf(extents[reduced.front()]); ++i) {
    at[reduced.front()] = Coord{l.index(i)};
    sum = foldedShort(l, c, operand, extents, reduced.drop_front(), at, sum);
  }
  return sum;
}

static Value elementsAlong(Lowering &l, const Values &extents, ArrayRef<int64_t> axes) {
  Value count = l.index(1);
  for (int64_t axis : axes)
    count = l.e.mul(count, extents[axis]);
  return count;
}

static void emitReduction(Reduction &r, ArrayRef<int64_t> kept, std::optional<int64_t> beside) {
  Lowering &l = r.l;
  // With a kept inner axis, whole rows are added, instead of columns that jump from row to row.
  bool isColumns = r.inner >= 0 && !r.horizontal && !r.axes.empty();
  SmallVector<View> sums;
  if (isColumns)
    for (const FoldedOperand &fold : r.folds)
      sums.push_back(allocate(l, storedAs(fold.c), {r.extents[r.inner]}));
  Coords at(r.extents.size());
  const FoldedOperand &first = r.folds.front();
  auto everyRow = [&] {
    forAxes(l, r.extents, kept, at, [&](Coords &at) {
      if (beside)
        forLanes(l, r.extents, *beside, at, r.cost * kShortRow, [&](Coords &at) {
          r.finish(at, foldedShort(l, first.c, first.operand, r.extents, r.reduced, at, {}));
        });
      else if (isColumns)
        r.columns(at, sums);
      else if (r.inner < 0 || r.horizontal)
        r.whole(at);
      else
        forLanes(l, r.extents, r.inner, at, r.cost, [&](Coords &at) {
          Values elements;
          for (const FoldedOperand &fold : r.folds)
            elements.push_back(fold.c.accept(l.e, toLanes(l, elementAt(l, fold.operand, at))));
          r.finish(at, elements);
        });
    });
  };
  std::optional<int64_t> across = lastOfSeveral(r.extents, kept);
  auto shortRows = [&] {
    forShortRows(l, r.extents, kept, *across, at, [&](Coords &at) { r.finish(at, r.ofLanes(at)); });
  };
  bool mayBeShort = r.horizontal && !beside && !first.stored && r.axes.empty() && across;
  Scope scope(l);
  if (mayBeShort && r.cost <= kCheapToFold)
    whereShort(l, shortFolds(l), r.extents[r.inner], r.extents[*across], shortRows, everyRow);
  else
    everyRow();
}

/// Where the results of a reduction go.
using StoreResult = std::function<void(const Coords &, Value)>;

// Reductions along the same axes of operands with the same extents; of several ones no operand is stored.
static void reduceInto(Lowering &l, ArrayRef<Operation *> ops, ArrayRef<StoreResult> stores) {
  Value operand = ops.front()->getOperand(0);
  int64_t rank = cast<ir::ArrayType>(operand.getType()).getRank();
  Values extents = extentsOf(l, operand), operands;
  SmallVector<int64_t> reduced = ir::reducedAxesOf(ops.front());
  int64_t inner = innerAxis(extents);
  bool horizontal = llvm::is_contained(reduced, inner);
  std::optional<int64_t> beside = axisBesideShortRows(extents, reduced);
  Reduction r{l, {}, extents, reduced, {}, inner, horizontal, 0, {}};
  for (auto [op, store] : llvm::zip(ops, stores)) {
    Value own = op->getOperand(0);
    operands.push_back(own);
    // A value with other uses is stored in the pass that reduces it.
    std::optional<View> stored =
        ops.size() == 1 && horizontal && !beside ? placeOfShared(l, own) : std::nullopt;
    if (!stored)
      prepare(l, own);
    Type element = cast<ir::ArrayType>(own.getType()).getElementType();
    Type result = op->getResult(0).getType();
    if (auto array = dyn_cast<ir::ArrayType>(result))
      result = array.getElementType();
    r.folds.push_back({combinerOf(op, element), own, result, stored, store});
  }
  // A reduction is a pass over its operand, which may fetch the next tile.
  beginPass(l, operands);
  for (Value own : operands)
    r.cost += settledCost(l, own);
  SmallVector<int64_t> kept;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != inner && axis != beside)
      (llvm::is_contained(reduced, axis) ? r.axes : kept).push_back(axis);
  r.count = elementsAlong(l, extents, reduced);
  emitReduction(r, kept, beside);
  if (r.folds.front().stored)
    l.bindView(operand, *r.folds.front().stored);
}

static bool reduceBy(Lowering &l, Operation *op,
                     llvm::function_ref<void(const Coords &, Value)> store) {
  const OpRecord *record = ir::recordOf(op);
  if (!record || record->opClass != OpClass::Reduction || !ir::loweringOf(op)->combiner)
    return false;
  if (isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op))
    searchInto(l, op, isa<ir::ReduceArgmaxOp>(op), store);
  else
    reduceInto(l, op, StoreResult(store));
  return true;
}

bool reduceTogether(Lowering &l, ArrayRef<Operation *> ops, ArrayRef<View> dests) {
  // A few positions of rows that are known to be short are written out for each alone.
  if (axisBesideShortRows(extentsOf(l, ops.front()->getOperand(0)), ir::reducedAxesOf(ops.front())))
    return false;
  SmallVector<StoreResult> stores;
  for (const View &dest : dests)
    stores.push_back([&l, dest](const Coords &at, Value value) { storeAt(l, dest, at, value); });
  reduceInto(l, ops, stores);
  return true;
}

bool produceReduction(Lowering &l, Operation *op, const View &dest) {
  return reduceBy(l, op, [&](const Coords &at, Value value) { storeAt(l, dest, at, value); });
}

Value reducedScalar(Lowering &l, Operation *op) {
  Value result;
  reduceBy(l, op, [&](const Coords &, Value value) { result = value; });
  return result;
}

} // namespace ptl::cpu
