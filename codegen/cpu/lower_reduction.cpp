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
/// One reduction while it is emitted.
struct Reduction {
  Lowering &l;
  Combiner c;
  Value operand;
  Values extents;
  SmallVector<int64_t> axes; // reduced, without the inner one
  int64_t inner;             // axis of vectors, -1: none
  bool horizontal;           // the inner axis is reduced
  int64_t cost;
  std::optional<View> stored; // where elements are kept for other uses

  Values loopOver(ArrayRef<int64_t> rest, Coords &at, Values sums) const;
  Values innerLoop(Coords &at, Values sums) const;
  Value ofLanes(Coords &at) const;
  void columns(Coords &at, const View &sums,
               llvm::function_ref<void(const Coords &, Value)> finished) const;
  Value take(Coords &at, Value sum, Value start, Value mask, int64_t lanes) const;
  void foldRows(ArrayRef<int64_t> rest, Coords &at, const View &sums) const;
  void addRows(Coords &at, int64_t axis, Value first, int64_t count, const View &sums) const;
};
} // namespace

// One step along the inner axis from `start`.
Value Reduction::take(Coords &at, Value sum, Value start, Value mask, int64_t lanes) const {
  at[inner] = Coord{start, 1, {}};
  Value element;
  {
    Scope scope(l);
    withLanes(l, lanes, mask, [&] {
      Value x = toLanes(l, elementAt(l, operand, at));
      if (stored)
        storeAt(l, *stored, at, x);
      element = c.accept(l.e, x);
    });
  }
  Value next = c.combine(l.e, sum, element);
  // Lanes beyond the end hold zeros, which are not the identity of every combiner.
  return mask ? l.e.select(mask, next, sum) : next;
}

Values Reduction::innerLoop(Coords &at, Values sums) const {
  // With this coordinate unknown, everything that does not depend on it is emitted in front of the
  // loop.
  at[inner] = Coord();
  hoist(l, operand, at);
  // Elements that have several partial results cost little, so that memory is what they wait for.
  RowFetch how = sums.size() > 1 ? RowFetch::Alone : RowFetch::None;
  auto step = [&](ArrayRef<Value> starts, Value mask, Values carried) {
    for (auto [n, start] : llvm::enumerate(starts))
      fetchingRows(l, how, n, [&] { carried[n] = take(at, carried[n], start, mask, l.maxLanes); });
    return carried;
  };
  return loopOfVectors(l, extents[inner], static_cast<int64_t>(sums.size()), sums, step);
}

// The fold along the inner axis of the rows at the present lanes, which lie along another axis.
Value Reduction::ofLanes(Coords &at) const {
  Type shape = l.lanes ? Type(VectorType::get({l.lanes}, c.acc)) : c.acc;
  return l.e.loop(l.index(0), extents[inner], l.index(1), c.identity(l.e, shape),
                  [&](const Emit &e, Value i, ValueRange sum) -> SmallVector<Value> {
                    Scope scope(l);
                    at[inner] = Coord{i};
                    Value element = c.accept(e, toLanes(l, elementAt(l, operand, at)));
                    return {c.combine(e, sum[0], element)};
                  })[0];
}

Values Reduction::loopOver(ArrayRef<int64_t> rest, Coords &at, Values sums) const {
  const Emit &e = l.e;
  if (rest.empty()) {
    // The inner axis is the last to be looped over, as its elements are neighbours.
    if (horizontal)
      return innerLoop(at, sums);
    return {c.combine(e, sums[0], c.accept(e, elementAt(l, operand, at)))};
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
                        const View &sums) const {
  const Emit &e = l.e;
  at[inner] = Coord();
  Values rows = rowsFrom(l, operand, at, axis, first, count);
  // Two vectors at a time overlap their loads; costly elements would be too much code twice.
  int64_t several = cost <= kCheapToFold ? 2 : 1;
  loopOfVectors(l, extents[inner], several, {}, [&](ArrayRef<Value> starts, Value mask, Values) {
    for (auto [n, start] : llvm::enumerate(starts)) {
      Scope scope(l);
      at[inner] = Coord{start, 1, {}};
      withLanes(l, l.maxLanes, mask, [&] {
        // One load and one store of the partial result serve several rows.
        Value sum = loadAt(l, sums, {at[inner]});
        fetchingRows(l, RowFetch::SideBySide, n, [&] {
          for (Value row : rows) {
            at[axis] = Coord{row};
            Value element = c.accept(e, toLanes(l, elementAt(l, operand, at)));
            sum = c.combine(e, sum, element);
          }
        });
        storeAt(l, sums, {at[inner]}, sum);
      });
    }
    return Values();
  });
}

void Reduction::foldRows(ArrayRef<int64_t> rest, Coords &at, const View &sums) const {
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

// Columns whose partial results are in memory.
void Reduction::columns(Coords &at, const View &sums,
                        llvm::function_ref<void(const Coords &, Value)> finished) const {
  forAll(l, sums.extents, 1, {},
         [&](Coords &to) { storeAt(l, sums, to, toLanes(l, c.identity(l.e, c.acc))); });
  foldRows(axes, at, sums);
  forLanes(l, extents, inner, at, 1,
           [&](Coords &at) { finished(at, loadAt(l, sums, {at[inner]})); });
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

static void reduceInto(Lowering &l, Operation *op,
                       llvm::function_ref<void(const Coords &, Value)> store) {
  Value operand = op->getOperand(0);
  auto type = cast<ir::ArrayType>(operand.getType());
  Values extents = extentsOf(l, operand);
  SmallVector<int64_t> reduced = ir::reducedAxesOf(op);
  int64_t inner = innerAxis(extents);
  bool horizontal = llvm::is_contained(reduced, inner);
  std::optional<int64_t> beside = axisBesideShortRows(extents, reduced);
  // A value with other uses is stored in the pass that reduces it.
  std::optional<View> stored = horizontal && !beside ? placeOfShared(l, operand) : std::nullopt;
  if (!stored)
    prepare(l, operand);
  // A reduction is a pass over its operand, which may fetch the next tile.
  beginPass(l, operand);
  Combiner c = combinerOf(op, type.getElementType());
  Type resultType = op->getResult(0).getType();
  if (auto array = dyn_cast<ir::ArrayType>(resultType))
    resultType = array.getElementType();
  Reduction r{l, c, operand, extents, {}, inner, horizontal, settledCost(l, operand), stored};
  SmallVector<int64_t> kept;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (axis != inner && axis != beside)
      (llvm::is_contained(reduced, axis) ? r.axes : kept).push_back(axis);
  Value count = elementsAlong(l, extents, reduced);
  // Partial results of a row are vectors. Several of them take turns where an element costs little, so that an addition need not wait for
  // the one before it.
  int64_t several = r.horizontal && r.cost <= kCheapToFold ? 4 : 1;
  Type shape = r.horizontal ? Type(VectorType::get({l.maxLanes}, c.acc)) : c.acc;
  auto finished = [&](const Coords &at, Value sum) {
    Coords to = at;
    for (int64_t axis : reduced)
      // A reduced axis has one position in the result, or none.
      to[axis] = Coord{l.index(0)};
    store(to, c.finish(l.e, sum, count, resultType));
  };
  auto whole = [&](Coords &at) {
    Values sums = r.loopOver(r.axes, at, Values(several, c.identity(l.e, shape)));
    Value sum = sums[0];
    for (Value other : ArrayRef(sums).drop_front())
      sum = c.combine(l.e, sum, other);
    finished(at, r.horizontal ? c.horizontal(l.e, sum) : sum);
  };
  // With a kept inner axis, whole rows are added, instead of columns that jump from row to row.
  bool isColumns = inner >= 0 && !r.horizontal && !r.axes.empty();
  View sums;
  if (isColumns)
    sums = allocate(l, storedAs(c), {extents[inner]});
  Coords at(type.getRank());
  auto everyRow = [&] {
    forAxes(l, extents, kept, at, [&](Coords &at) {
      if (beside)
        forLanes(l, extents, *beside, at, r.cost * kShortRow, [&](Coords &at) {
          finished(at, foldedShort(l, c, operand, extents, reduced, at, {}));
        });
      else if (isColumns)
        r.columns(at, sums, finished);
      else if (inner < 0 || r.horizontal)
        whole(at);
      else
        forLanes(l, extents, inner, at, r.cost, [&](Coords &at) {
          finished(at, c.accept(l.e, toLanes(l, elementAt(l, operand, at))));
        });
    });
  };
  std::optional<int64_t> across = lastOfSeveral(extents, kept);
  auto shortRows = [&] {
    forShortRows(l, extents, kept, *across, at, [&](Coords &at) { finished(at, r.ofLanes(at)); });
  };
  bool mayBeShort = horizontal && !beside && !stored && r.axes.empty() && across;
  {
    Scope scope(l);
    if (mayBeShort && r.cost <= kCheapToFold)
      whereShort(l, shortFolds(l), extents[inner], extents[*across], shortRows, everyRow);
    else
      everyRow();
  }
  if (stored)
    l.bindView(operand, *stored);
}

static bool reduceBy(Lowering &l, Operation *op,
                     llvm::function_ref<void(const Coords &, Value)> store) {
  const OpRecord *record = ir::recordOf(op);
  if (!record || record->opClass != OpClass::Reduction || !ir::loweringOf(op)->combiner)
    return false;
  if (isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op))
    searchInto(l, op, isa<ir::ReduceArgmaxOp>(op), store);
  else
    reduceInto(l, op, store);
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
