// Searches: argmax and argmin.
#include "codegen/cpu/lower_search.h"
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_reduction.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/storage.h"
#include "codegen/cpu/tile_ahead.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

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
  void columns(Coords &at, int64_t axis, const Combiner &order, const View &best,
               const View &positions,
               llvm::function_ref<void(const Coords &, Value)> finished) const;
  Candidates innerLoop(Coords &at, Candidates found) const;
  Value oneByOne(Coords &at) const;
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

// The positions along the inner axis one after the other, each for all lanes, which lie along another axis; there is one at least.
Value Search::oneByOne(Coords &at) const {
  const Emit &e = l.e;
  at[inner] = Coord{l.index(0)};
  Value first = toLanes(l, elementAt(l, operand, at));
  return e.loop(
      l.index(1), extents[inner], l.index(1), {first, e.integer(positionType(first.getType()), 0)},
      [&](const Emit &, Value i, ValueRange now) -> SmallVector<Value> {
        Scope scope(l);
        at[inner] = Coord{i};
        Candidates found{{now[0]}, {now[1]}, {}};
        take(found, 0, toLanes(l, elementAt(l, operand, at)), e.indexCast(i, e.b.getI32Type()), {});
        return {found.best[0], found.positions[0]};
      })[1];
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
  if (settledCost(l, operand) <= kCheapToFold) {
    Value rest = e.b.createOrFold<arith::RemUIOp>(e.loc, rows, l.index(kRowsSearchedAtOnce));
    done = e.sub(rows, rest);
    loop(l.index(0), done, kRowsSearchedAtOnce);
  }
  loop(done, rows, 1);
}

// Columns whose candidates are in memory.
void Search::columns(Coords &at, int64_t axis, const Combiner &order, const View &best,
                     const View &positions,
                     llvm::function_ref<void(const Coords &, Value)> finished) const {
  forAll(l, best.extents, 1, {}, [&](Coords &to) {
    storeAt(l, best, to, toLanes(l, order.identity(l.e, order.acc)));
    storeAt(l, positions, to, toLanes(l, l.e.i32(-1)));
  });
  searchColumns(at, axis, best, positions);
  forLanes(l, extents, inner, at, 1,
           [&](Coords &at) { finished(at, loadAt(l, positions, {at[inner]})); });
}

// Finding the best of all lanes takes as long as many elements.
static constexpr ShortRows kSearchedShort = {16, 64};

void searchInto(Lowering &l, Operation *op, bool larger,
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
  int64_t several = horizontal && settledCost(l, operand) <= kCheapToFold ? 4 : 1;
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
  Coords at(type.getRank());
  Scope scope(l);
  auto everyRow = [&] {
    forAxes(l, extents, kept, at, [&](Coords &at) {
      if (isColumns)
        return search.columns(at, searched.front(), order, best, positions, finished);
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
  };
  std::optional<int64_t> beside = lastOfSeveral(extents, kept);
  auto shortRows = [&] {
    forShortRows(l, extents, kept, *beside, at,
                 [&](Coords &at) { finished(at, search.oneByOne(at)); });
  };
  bool hasRows =
      horizontal && searched.empty() && beside && settledCost(l, operand) <= kCheapToFold;
  if (hasRows)
    whereShort(l, kSearchedShort, extents[inner], extents[*beside], shortRows, everyRow);
  else
    everyRow();
}

} // namespace ptl::cpu
