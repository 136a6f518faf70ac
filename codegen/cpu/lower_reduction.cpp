// Reductions and searches.
#include "codegen/cpu/lower_reduction.h"
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/storage.h"
#include "codegen/cpu/tile_ahead.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

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

// Elements that cost more than this are computed one vector at a time.
static constexpr int64_t kCheap = 6;

// Rows that are added at the same time, so that partial results are loaded and stored less often, and that memory is read at several
// places; fewer where an element takes much code.
static constexpr int64_t kRowsAtOnce = 8, kCostlyRowsAtOnce = 4;

// The positions of `count` rows along an axis. What varies only with the row is emitted once for each row, not for each vector.
static Values rowsFrom(Lowering &l, Value operand, Coords &at, int64_t axis, Value first,
                       int64_t count) {
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
  int64_t several = cost <= kCheap ? 2 : 1;
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
  int64_t together = cost <= kCheap ? kRowsAtOnce : kCostlyRowsAtOnce;
  Value whole = e.sub(rows, e.b.createOrFold<arith::RemUIOp>(e.loc, rows, l.index(together)));
  loop(l.index(0), whole, together);
  loop(whole, rows, 1);
}

// Rows of so few elements are folded a vector of rows at a time: a vector along the row would be mostly empty.
static constexpr int64_t kShortRow = 4;

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
  int64_t several = r.horizontal && r.cost <= kCheap ? 4 : 1;
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
  auto columns = [&](Coords &at) {
    forAll(l, sums.extents, 1, {},
           [&](Coords &to) { storeAt(l, sums, to, toLanes(l, c.identity(l.e, c.acc))); });
    r.foldRows(r.axes, at, sums);
    forLanes(l, extents, inner, at, 1,
             [&](Coords &at) { finished(at, loadAt(l, sums, {at[inner]})); });
  };
  Coords at(type.getRank());
  {
    Scope scope(l);
    forAxes(l, extents, kept, at, [&](Coords &at) {
      if (beside)
        forLanes(l, extents, *beside, at, r.cost * kShortRow, [&](Coords &at) {
          finished(at, foldedShort(l, c, operand, extents, reduced, at, {}));
        });
      else if (isColumns)
        columns(at);
      else if (inner < 0 || r.horizontal)
        whole(at);
      else
        forLanes(l, extents, inner, at, r.cost, [&](Coords &at) {
          finished(at, c.accept(l.e, toLanes(l, elementAt(l, operand, at))));
        });
    });
  }
  if (stored)
    l.bindView(operand, *stored);
}

// --- argmax, argmin ------------------------------------------------------------------------------

// Whether `x` comes before `best` in the order of the search: NaN first, ties keep the earlier one.
static Value isBetter(const Emit &e, Type elem, bool larger, Value x, Value best) {
  if (!isFloatElem(elem)) {
    auto predicate = isUnsigned(elem) ? (larger ? CmpIPredicate::ugt : CmpIPredicate::ult)
                                      : (larger ? CmpIPredicate::sgt : CmpIPredicate::slt);
    return e.cmpi(predicate, x, best);
  }
  // The comparison is true where either is NaN.
  Value beyond = e.cmpf(larger ? CmpFPredicate::UGT : CmpFPredicate::ULT, x, best);
  // Once a NaN is the best, nothing replaces it.
  return e.bitAnd(beyond, e.cmpf(CmpFPredicate::ORD, best, best));
}

namespace {
/// A search while it is emitted. A candidate is a value and its position, -1 where nothing better than the least value of the
/// type has been met; both are vectors where several lanes search.
struct Search {
  Lowering &l;
  Type elem;
  bool larger;
  Value operand;
  Values extents;
  int64_t inner;   // axis of vectors, -1: none
  bool horizontal; // the inner axis is searched

  struct Candidates {
    Values best, positions;
    Value next; // position of the element that comes next in the order of the search
  };

  Type positionType(Type like) const { return withShapeOf(like, l.e.b.getI32Type()); }
  void take(Candidates &found, size_t which, Value x, Value position, Value mask) const;
  void merge(Candidates &found, size_t which, Value best, Value position) const;
  Value lanesMerged(const Candidates &found) const;
  void searchRows(Coords &at, int64_t axis, Value first, int64_t count, const View &best,
                  const View &positions) const;
  void searchColumns(Coords &at, int64_t axis, const View &best, const View &positions) const;
  Candidates loopOver(ArrayRef<int64_t> rest, Coords &at, Candidates found, Value start,
                      Value mask) const;
  Candidates innerLoop(Coords &at, Candidates found) const;
};
} // namespace

// Elements come in the order of their positions, so only what is better takes the place.
void Search::take(Candidates &found, size_t which, Value x, Value position, Value mask) const {
  Value &best = found.best[which], &at = found.positions[which];
  Value better = isBetter(l.e, elem, larger, x, best);
  if (mask)
    // Lanes beyond the end have no elements.
    better = l.e.bitAnd(better, mask);
  best = l.e.select(better, x, best);
  at = l.e.select(better, l.e.splat(position, at.getType()), at);
}

// Of two candidates, in any order: of equal ones that with the smaller position. -1 is the largest.
void Search::merge(Candidates &found, size_t which, Value best, Value position) const {
  const Emit &e = l.e;
  Value &own = found.best[which], &at = found.positions[which];
  Value worse = isBetter(e, elem, larger, own, best);
  Value better = isBetter(e, elem, larger, best, own);
  // As an unsigned number, -1 for "none" is the largest position.
  Value earlier = e.cmpi(CmpIPredicate::ult, position, at);
  Value take = e.bitOr(better, e.bitAnd(earlier, e.bitNot(worse)));
  own = e.select(take, best, own);
  at = e.select(take, position, at);
}

// The position of the best of all candidates and lanes.
Value Search::lanesMerged(const Candidates &found) const {
  const Emit &e = l.e;
  Candidates all{{found.best[0]}, {found.positions[0]}, {}};
  // Candidates of several vectors become one vector first, then halves of that are compared, so
  // that the number of comparisons grows with the logarithm of the lanes.
  for (size_t n = 1; n < found.best.size(); ++n)
    merge(all, 0, found.best[n], found.positions[n]);
  auto half = [&](Value vector, bool upper) {
    int64_t lanes = laneCount(vector.getType()) / 2;
    SmallVector<int64_t> chosen(llvm::to_vector(llvm::seq<int64_t>(0, lanes)));
    for (int64_t &lane : chosen)
      lane += upper ? lanes : 0;
    return e.b.create<vector::ShuffleOp>(e.loc, vector, vector, chosen).getResult();
  };
  while (laneCount(all.best[0].getType()) > 1) {
    Value best = half(all.best[0], true), position = half(all.positions[0], true);
    all = {{half(all.best[0], false)}, {half(all.positions[0], false)}, {}};
    merge(all, 0, best, position);
  }
  return e.b.create<vector::ExtractElementOp>(e.loc, all.positions[0], e.index(0));
}

Search::Candidates Search::innerLoop(Coords &at, Candidates found) const {
  const Emit &e = l.e;
  at[inner] = Coord();
  hoist(l, operand, at);
  auto count = static_cast<int64_t>(found.best.size());
  Values carried = found.best;
  carried.append(found.positions);
  Type positions = positionType(found.best[0].getType());
  Values results = loopOfVectors(
      l, extents[inner], count, carried, [&](ArrayRef<Value> starts, Value mask, Values now) {
        size_t half = now.size() / 2;
        Candidates next{
            Values(ArrayRef(now).take_front(half)), Values(ArrayRef(now).drop_front(half)), {}};
        for (auto [which, start] : llvm::enumerate(starts)) {
          at[inner] = Coord{start, 1, {}};
          Scope scope(l);
          withLanes(l, l.maxLanes, mask, [&] {
            Value x = toLanes(l, elementAt(l, operand, at));
            Value first = e.add(e.indexCast(start, e.b.getI32Type()), found.next);
            Value position =
                e.add(e.splat(first, positions), laneNumbers(e, l.maxLanes, e.b.getI32Type()));
            take(next, which, x, position, mask);
          });
        }
        next.best.append(next.positions);
        return next.best;
      });
  size_t half = results.size() / 2;
  // Positions count through all searched axes in row-major order, so the next row begins where this
  // one ends.
  Value length = e.indexCast(extents[inner], e.b.getI32Type());
  return {Values(ArrayRef(results).take_front(half)), Values(ArrayRef(results).drop_front(half)),
          e.add(found.next, length)};
}

// `start` is where the vector of a kept inner axis begins; null without.
Search::Candidates Search::loopOver(ArrayRef<int64_t> rest, Coords &at, Candidates found,
                                    Value start, Value mask) const {
  const Emit &e = l.e;
  if (rest.empty() && horizontal)
    return innerLoop(at, std::move(found));
  if (rest.empty()) {
    Value x;
    if (start)
      at[inner] = Coord{start, 1, {}};
    withLanes(l, start ? l.maxLanes : 0, mask, [&] { x = toLanes(l, elementAt(l, operand, at)); });
    take(found, 0, x, found.next, {});
    // The position is counted in the order of the search, whatever axes it goes through.
    found.next = e.add(found.next, e.i32(1));
    return found;
  }
  Values carried = found.best;
  carried.append(found.positions);
  carried.push_back(found.next);
  auto unpacked = [](ArrayRef<Value> values) {
    size_t half = values.size() / 2;
    return Candidates{Values(values.take_front(half)), Values(values.slice(half, half)),
                      values.back()};
  };
  auto results = e.loop(l.index(0), extents[rest.front()], l.index(1), carried,
                        [&](const Emit &, Value i, ValueRange now) {
                          Scope inside(l);
                          at[rest.front()] = Coord{i};
                          Candidates next = loopOver(rest.drop_front(), at,
                                                     unpacked(llvm::to_vector(now)), start, mask);
                          SmallVector<Value> all(next.best.begin(), next.best.end());
                          all.append(next.positions.begin(), next.positions.end());
                          all.push_back(next.next);
                          return all;
                        });
  return unpacked(results);
}

// Rows that are searched at the same time, for the reasons that several are added.
static constexpr int64_t kRowsSearchedAtOnce = 8;

// Compares rows with the candidates of all columns, which are in memory.
void Search::searchRows(Coords &at, int64_t axis, Value first, int64_t count, const View &best,
                        const View &positions) const {
  const Emit &e = l.e;
  at[inner] = Coord();
  Values rows = rowsFrom(l, operand, at, axis, first, count);
  loopOfVectors(l, extents[inner], 1, {}, [&](ArrayRef<Value> starts, Value mask, Values) {
    Scope scope(l);
    at[inner] = Coord{starts[0], 1, {}};
    withLanes(l, l.maxLanes, mask, [&] {
      Coords column = {at[inner]};
      Candidates found{{loadAt(l, best, column)}, {loadAt(l, positions, column)}, {}};
      fetchingRows(l, RowFetch::SideBySide, 0, [&] {
        for (Value row : rows) {
          at[axis] = Coord{row};
          Value x = toLanes(l, elementAt(l, operand, at));
          // Lanes beyond the end are not stored, so what they find does not matter.
          take(found, 0, x, e.indexCast(row, e.b.getI32Type()), {});
        }
      });
      storeAt(l, best, column, found.best[0]);
      storeAt(l, positions, column, found.positions[0]);
    });
    return Values();
  });
}

// Rows are read from end to end, as memory gives them fastest; `axis` is the one that is searched.
void Search::searchColumns(Coords &at, int64_t axis, const View &best,
                           const View &positions) const {
  const Emit &e = l.e;
  auto loop = [&](Value from, Value to, int64_t step) {
    e.loop(from, to, l.index(step), {}, [&](const Emit &, Value i, ValueRange) {
      Scope scope(l);
      searchRows(at, axis, i, step, best, positions);
      return SmallVector<Value>();
    });
  };
  Value rows = extents[axis], done = l.index(0);
  // Several rows at once read the candidates of a column once. Where elements are costly to
  // compute, that is no gain.
  if (settledCost(l, operand) <= kCheap) {
    Value rest = e.b.createOrFold<arith::RemUIOp>(e.loc, rows, l.index(kRowsSearchedAtOnce));
    done = e.sub(rows, rest);
    loop(l.index(0), done, kRowsSearchedAtOnce);
  }
  loop(done, rows, 1);
}

static void searchInto(Lowering &l, Operation *op, bool larger,
                       llvm::function_ref<void(const Coords &, Value)> store) {
  const Emit &e = l.e;
  Value operand = op->getOperand(0);
  auto type = cast<ir::ArrayType>(operand.getType());
  prepare(l, operand);
  Values extents = extentsOf(l, operand);
  Type elem = type.getElementType();
  int64_t inner = innerAxis(extents);
  SmallVector<int64_t> searched, kept;
  bool horizontal = false;
  Value count = l.index(1);
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  for (int64_t n = 0; n < type.getRank(); ++n) {
    bool isSearched = !axis || axis.getInt() == n;
    if (isSearched)
      count = e.mul(count, extents[n]);
    if (n == inner)
      horizontal = isSearched;
    else
      (isSearched ? searched : kept).push_back(n);
  }
  Search search{l, elem, larger, operand, extents, inner, horizontal};
  Combiner order = combinerOf(op, elem);
  Type shape = inner < 0 ? order.acc : Type(VectorType::get({l.maxLanes}, order.acc));
  int64_t several = horizontal && settledCost(l, operand) <= kCheap ? 4 : 1;
  // Where nothing is better than the least value, all elements are that value: the first one is it.
  Value unmet = e.select(e.cmpi(CmpIPredicate::sgt, count, 0), e.i32(0), e.i32(-1));
  auto finished = [&](const Coords &at, Value position) {
    Coords to = at;
    for (int64_t n : searched)
      to[n] = Coord{l.index(0)};
    if (horizontal)
      to[inner] = Coord{l.index(0)};
    Value none = e.cmpi(CmpIPredicate::slt, position, 0);
    store(to, e.select(none, e.splat(unmet, position.getType()), position));
  };
  Search::Candidates start{Values(several, order.identity(e, shape)),
                           Values(several, e.integer(search.positionType(shape), -1)), e.i32(0)};
  // Columns that do not fit one vector have their candidates in memory.
  auto width = inner < 0 ? std::nullopt : constantOf(extents[inner]);
  bool isColumns =
      inner >= 0 && !horizontal && !searched.empty() && !(width && *width <= l.maxLanes);
  View best, positions;
  if (isColumns) {
    best = allocate(l, storedAs(order), {extents[inner]});
    positions = allocate(l, e.b.getI32Type(), {extents[inner]});
  }
  auto columns = [&](Coords &at) {
    forAll(l, best.extents, 1, {}, [&](Coords &to) {
      storeAt(l, best, to, toLanes(l, order.identity(e, order.acc)));
      storeAt(l, positions, to, toLanes(l, e.i32(-1)));
    });
    search.searchColumns(at, searched.front(), best, positions);
    forLanes(l, extents, inner, at, 1,
             [&](Coords &at) { finished(at, loadAt(l, positions, {at[inner]})); });
  };
  Coords at(type.getRank());
  Scope scope(l);
  forAxes(l, extents, kept, at, [&](Coords &at) {
    if (isColumns)
      return columns(at);
    if (inner < 0 || horizontal) {
      auto found = search.loopOver(searched, at, start, {}, {});
      return finished(at, horizontal ? search.lanesMerged(found) : found.positions[0]);
    }
    loopOfVectors(l, extents[inner], 1, {}, [&](ArrayRef<Value> starts, Value mask, Values) {
      Scope inside(l);
      auto found = search.loopOver(searched, at, start, starts[0], mask);
      at[inner] = Coord{starts[0], 1, {}};
      withLanes(l, l.maxLanes, mask, [&] { finished(at, found.positions[0]); });
      return Values();
    });
  });
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
