// Scans.
#include "codegen/cpu/lower_scan.h"
#include "codegen/cpu/bound_element.h"
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_control.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/one_row.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/storage.h"
#include "codegen/cpu/streamed_store.h"
#include "codegen/cpu/tile_ahead.h"
#include "ir/dialect/fold.h"
#include "passes/analysis/op_kinds.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

namespace {
/// One scan while it is emitted.
struct Scan {
  Lowering &l;
  Combiner c;
  Value operand;
  const View &dest;
  int64_t axis, inner; // `inner`: axis of vectors, -1: none
  Value rows;          // whether rows of the result go past the caches
  std::optional<View> sums = {};

  Value elementOf(Coords &at) const;
  Value resultOf(Value sum) const { return c.finish(l.e, sum, {}, dest.element); }
  Value prefix(Value x, Value reach) const;
  void alongShortRows(const View &row, Value streamed) const;
  void alongRow(Coords &at) const;
  void scanRows(const Coords &at, Value first, int64_t count, Value streamed) const;
  void alongColumns(Coords &at) const;
  void oneByOne(Coords &at) const;
};
} // namespace

Value Scan::elementOf(Coords &at) const {
  return c.accept(l.e, toLanes(l, elementAt(l, operand, at)));
}

// The running results of the lanes of a vector, each over as many lanes in front of it as `reach` says, by doubling steps. Lanes are
// rotated, which takes one instruction, and those that have come round are left out.
Value Scan::prefix(Value x, Value reach) const {
  const Emit &e = l.e;
  int64_t lanes = laneCount(x.getType());
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    SmallVector<int64_t> rotated;
    for (int64_t lane = 0; lane < lanes; ++lane)
      rotated.push_back((lane + lanes - distance) % lanes);
    Value before = e.b.create<vector::ShuffleOp>(e.loc, x, x, rotated);
    x = e.select(e.cmpi(CmpIPredicate::sge, reach, distance), c.combine(e, before, x), x);
  }
  return x;
}

// Where in their rows the lanes of a vector are whose first one is at `start`. `inRow` is where they would be at the start of a row.
static Value placesInRow(const Emit &e, Value start, Value length, Value inRow) {
  Value first = e.b.create<arith::RemUIOp>(e.loc, start, length);
  auto spread = [&](Value x) {
    return e.splat(e.indexCast(x, scalarOf(inRow.getType())), inRow.getType());
  };
  Value places = e.add(spread(first), inRow), whole = spread(length);
  return e.select(e.cmpi(CmpIPredicate::sge, places, whole), e.sub(places, whole), places);
}

// The same at the start of a row: the numbers of lanes, from which multiples of the length are taken away.
static Value placesFromStart(const Emit &e, Value numbers, Value length) {
  Value whole = e.splat(e.indexCast(length, scalarOf(numbers.getType())), numbers.getType());
  Value places = numbers;
  for (int64_t times = laneCount(numbers.getType()) / 2; times > 0; times /= 2) {
    Value part = e.mul(whole, e.integer(whole.getType(), times));
    places = e.select(e.cmpi(CmpIPredicate::sge, places, part), e.sub(places, part), places);
  }
  return places;
}

// Rows that follow each other in memory, as one: vectors hold parts of several, and each lane combines what belongs to its own. A row that
// a vector begins within has its earlier elements in what the vector before hands on.
void Scan::alongShortRows(const View &row, Value streamed) const {
  const Emit &e = l.e;
  auto type = VectorType::get({l.maxLanes}, c.acc);
  Value numbers = laneNumbers(e, l.maxLanes, e.b.getI32Type()), length = dest.extents[inner];
  Value inRow = placesFromStart(e, numbers, length);
  SmallVector<int64_t> last(static_cast<size_t>(l.maxLanes), l.maxLanes - 1);
  auto ofLast = [&](Value x) -> Value { return e.b.create<vector::ShuffleOp>(e.loc, x, x, last); };
  Coords at(row.rank(), Coord{l.index(0)});
  at[inner] = Coord();
  hoist(l, operand, at);
  storeRowInOrder(l, row, streamed, at, {c.identity(e, type)}, [&](Coords &at, Values &carried) {
    Value places = placesInRow(e, at[inner].base, length, inRow), before = carried[0];
    Value sums = prefix(elementOf(at), e.b.create<arith::MinSIOp>(e.loc, places, numbers));
    Value continues = e.cmpi(CmpIPredicate::sgt, places, numbers);
    Value result = e.select(continues, c.combine(e, before, sums), sums);
    if (l.mask) {
      // The last lane that exists hands on, whichever it is.
      Value here = e.select(l.mask, numbers, e.zero(numbers.getType()));
      Value lane = e.b.create<vector::ReductionOp>(e.loc, vector::CombiningKind::MAXSI, here);
      carried[0] = e.splat(e.b.create<vector::ExtractElementOp>(e.loc, result, lane), type);
    } else {
      // As for long rows, only one combination waits for the vector before.
      Value all = ofLast(sums);
      carried[0] = e.select(ofLast(continues), c.combine(e, before, all), all);
    }
    return resultOf(result);
  });
}

// The axis is that of vectors. What one vector hands on takes a single operation, so the others of several vectors overlap.
void Scan::alongRow(Coords &at) const {
  const Emit &e = l.e;
  auto type = VectorType::get({l.maxLanes}, c.acc);
  SmallVector<int64_t> last(static_cast<size_t>(l.maxLanes), l.maxLanes - 1);
  at[inner] = Coord();
  hoist(l, operand, at);
  storeRowInOrder(l, dest, rows, at, {c.identity(e, type)}, [&](Coords &at, Values &carried) {
    Value x = elementOf(at);
    if (l.mask)
      // Lanes beyond the end must not change what is handed on.
      x = e.select(l.mask, x, c.identity(e, type));
    // The prefix of a vector does not need what comes before it, which is combined at the end.
    Value sums = prefix(x, laneNumbers(e, l.maxLanes, e.b.getI32Type())), before = carried[0];
    Value all = e.b.create<vector::ShuffleOp>(e.loc, sums, sums, last);
    // Only this combination depends on the vector before, so the chain from vector to vector is one
    // operation long.
    carried[0] = c.combine(e, before, all);
    return resultOf(c.combine(e, before, sums));
  });
}

// Rows that are scanned at the same time, so that running results are loaded and stored less often.
static constexpr int64_t kScannedAtOnce = 4;
// Elements that cost more than this are computed for one row at a time: it is less code.
static constexpr int64_t kCheapElement = 6;

void Scan::scanRows(const Coords &at, Value first, int64_t count, Value streamed) const {
  const Emit &e = l.e;
  SmallVector<Coords> rowsAt(static_cast<size_t>(count), at);
  for (auto [n, row] : llvm::enumerate(rowsAt))
    row[axis] = Coord{e.add(first, l.index(static_cast<int64_t>(n)))};
  int64_t cost = (costOf(l, operand) + 2) * count;
  storeRows(l, dest, streamed, cost, operand, rowsAt, [&](MutableArrayRef<Coords> each) {
    Coords place = {each[0][inner]};
    Value sum = loadAt(l, *sums, place);
    Values results;
    fetchingRows(l, RowFetch::SideBySide, 0, [&] {
      for (Coords &row : each) {
        // The running result stays in a register from row to row.
        sum = c.combine(e, sum, elementOf(row));
        results.push_back(resultOf(sum));
      }
    });
    storeAt(l, *sums, place, sum);
    return results;
  });
}

// Rows are read and written from end to end, as memory is fastest; the running results are a row that stays in a cache.
void Scan::alongColumns(Coords &at) const {
  const Emit &e = l.e;
  // Scratch memory holds anything, so the running results begin with the identity.
  forAll(l, sums->extents, 1, {},
         [&](Coords &to) { storeAt(l, *sums, to, toLanes(l, c.identity(e, c.acc))); });
  auto loop = [&](Value from, Value to, int64_t step) {
    e.loop(from, to, l.index(step), {}, [&](const Emit &, Value i, ValueRange) {
      Scope scope(l);
      scanRows(at, i, step, rows);
      return SmallVector<Value>();
    });
  };
  Value count = dest.extents[axis], done = l.index(0);
  if (costOf(l, operand) <= kCheapElement) {
    Value rest = e.b.createOrFold<arith::RemUIOp>(e.loc, count, l.index(kScannedAtOnce));
    done = e.sub(count, rest);
    loop(l.index(0), done, kScannedAtOnce);
  }
  loop(done, count, 1);
}

// Running results in a register: of one element, or of a vector of columns.
void Scan::oneByOne(Coords &at) const {
  const Emit &e = l.e;
  Type shape = l.lanes ? Type(VectorType::get({l.lanes}, c.acc)) : c.acc;
  e.loop(l.index(0), dest.extents[axis], l.index(1), c.identity(e, shape),
         [&](const Emit &, Value i, ValueRange carried) -> SmallVector<Value> {
           Scope scope(l);
           at[axis] = Coord{i};
           Value next = c.combine(e, carried[0], elementOf(at));
           storeAt(l, dest, at, resultOf(next));
           return {next};
         });
}

// Rows along `inner` that are shorter than a vector as one, by `asOne`, where they lie one after the other, and else row by row: a vector
// for each would be partly empty, and its steps take as long as those of a whole one.
static void whereRowsAreShort(Lowering &l, ValueRange operands, ArrayRef<View> dests, int64_t inner,
                              llvm::function_ref<void(ArrayRef<View>)> asOne,
                              llvm::function_ref<void()> rowByRow) {
  Value length = dests.front().extents[inner];
  if (constantOf(length).value_or(0) >= l.maxLanes)
    return rowByRow();
  int64_t cost = 0;
  for (Value operand : operands)
    cost += costOf(l, operand);
  // As a number without a sign, what is before 0 is large.
  Value isShort =
      l.e.cmpi(CmpIPredicate::ult, l.e.sub(length, l.index(1)), l.index(l.maxLanes - 1));
  storeAsOneRow(
      l, operands, dests, cost,
      [&](ArrayRef<View> to) {
        if (to.front().extents == dests.front().extents)
          return rowByRow();
        Scope scope(l);
        asOne(to);
      },
      isShort);
}

bool produceScan(Lowering &l, Operation *op, const View &dest, Value streamed) {
  if (!ir::isCumulative(op))
    return false;
  Value operand = op->getOperand(0);
  prepare(l, operand);
  auto type = cast<ir::ArrayType>(operand.getType());
  int64_t axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  int64_t inner = innerAxis(dest.extents);
  // Where lines begin at other elements in each row, vectors of running results would overlap those of the row before.
  Value rows = streamedRows(l, dest, streamed, costOf(l, operand));
  if (rows && inner != axis)
    rows = l.e.bitAnd(rows, haveSameLines(l, dest, axis));
  Scan scan{l, combinerOf(op, type.getElementType()), operand, dest, axis, inner, rows};
  SmallVector<int64_t> others;
  for (int64_t n = 0; n < type.getRank(); ++n)
    if (n != axis && n != inner)
      others.push_back(n);
  auto width = inner < 0 ? std::nullopt : constantOf(dest.extents[inner]);
  // A row of one vector stays in a register, so it needs no memory for running results.
  bool isNarrow = width && *width <= l.maxLanes;
  if (inner >= 0 && inner != axis && !isNarrow)
    scan.sums = allocate(l, storedAs(scan.c), {dest.extents[inner]});
  auto rowByRow = [&] {
    Coords at(type.getRank());
    Scope scope(l);
    forAxes(l, dest.extents, others, at, [&](Coords &at) {
      if (inner < 0)
        scan.oneByOne(at);
      else if (inner == axis)
        scan.alongRow(at);
      else if (isNarrow)
        forLanes(l, dest.extents, inner, at, 100, [&](Coords &at) { scan.oneByOne(at); });
      else
        scan.alongColumns(at);
    });
  };
  if (inner < 0 || inner != axis) {
    rowByRow();
    return true;
  }
  auto asOne = [&](ArrayRef<View> to) {
    scan.alongShortRows(to.front(), streamedRows(l, to.front(), streamed, costOf(l, operand)));
  };
  whereRowsAreShort(l, operand, dest, inner, asOne, rowByRow);
  return true;
}

// --- folds with a function of the program --------------------------------------------------------

namespace {
/// One fold with a function of the program while it is emitted. A state has a value for each array.
struct Fold {
  Lowering &l;
  ir::FoldOp op;
  ArrayRef<View> dests;
  Values lengths;      // of the arrays
  int64_t axis, inner; // `inner`: axis of vectors, -1: none
  std::vector<View> sums = {};

  size_t arrays() { return op.getNumOperands() / 2; }
  Values elements(const Coords &at);
  Values starts(int64_t lanes);
  Values combined(ValueRange earlier, ValueRange later);
  void store(const Coords &at, ValueRange state);
  void storeRunning(const Coords &at, ValueRange state);
  void storeLast(Coords at, ValueRange state);
  Values prefix(Values state, Value reach);
  void alongShortRows(ArrayRef<View> rows);
  Values lastLane(ValueRange state);
  void alongRow(Coords &at);
  void scanRows(const Coords &at, Value first, int64_t count);
  void alongColumns(Coords &at);
  void oneByOne(Coords &at);
  void emit();
};
} // namespace

Values Fold::elements(const Coords &at) {
  Values state;
  for (Value operand : op.getOperands().take_front(arrays()))
    state.push_back(toLanes(l, elementAt(l, operand, at)));
  return state;
}

Values Fold::starts(int64_t lanes) {
  Values state;
  for (Value start : op.getOperands().drop_front(arrays())) {
    Value one = scalarOf(l, start);
    state.push_back(lanes ? l.e.splat(one, VectorType::get({lanes}, one.getType())) : one);
  }
  return state;
}

// The body on registers: its arguments are arrays of one element.
Values Fold::combined(ValueRange earlier, ValueRange later) {
  Scope scope(l);
  Block &body = op.getBody().front();
  Values both(earlier);
  both.append(later.begin(), later.end());
  for (auto [argument, value] : llvm::zip(body.getArguments(), both))
    bindElement(l, argument, value);
  Values state;
  for (Value result : body.getTerminator()->getOperands())
    state.push_back(toLanes(l, elementAt(l, result, {Coord{l.index(0)}})));
  return state;
}

void Fold::store(const Coords &at, ValueRange state) {
  for (auto [dest, of] : llvm::zip(dests, op.getWanted()))
    storeAt(l, dest, at, state[static_cast<size_t>(of)]);
}

void Fold::storeRunning(const Coords &at, ValueRange state) {
  if (!op.getLast())
    store(at, state);
}

void Fold::storeLast(Coords at, ValueRange state) {
  at[axis] = Coord{l.index(0)};
  if (op.getLast())
    store(at, state);
}

// As for sums: running results of the lanes of a vector, by doubling steps.
Values Fold::prefix(Values state, Value reach) {
  const Emit &e = l.e;
  for (int64_t distance = 1; distance < l.maxLanes; distance *= 2) {
    SmallVector<int64_t> rotated;
    for (int64_t lane = 0; lane < l.maxLanes; ++lane)
      rotated.push_back((lane + l.maxLanes - distance) % l.maxLanes);
    Values before;
    for (Value value : state)
      before.push_back(e.b.create<vector::ShuffleOp>(e.loc, value, value, rotated));
    Value has = e.cmpi(CmpIPredicate::sge, reach, distance);
    Values both = combined(before, state);
    for (auto [value, next] : llvm::zip(state, both))
      value = e.select(has, next, value);
  }
  return state;
}

Values Fold::lastLane(ValueRange state) {
  SmallVector<int64_t> last(static_cast<size_t>(l.maxLanes), l.maxLanes - 1);
  Values all;
  for (Value value : state)
    all.push_back(l.e.b.create<vector::ShuffleOp>(l.e.loc, value, value, last));
  return all;
}

// As for sums: rows that follow each other in memory, as one.
void Fold::alongShortRows(ArrayRef<View> rows) {
  const Emit &e = l.e;
  Value numbers = laneNumbers(e, l.maxLanes, e.b.getI32Type()), length = lengths[inner];
  Value inRow = placesFromStart(e, numbers, length);
  Values start = starts(l.maxLanes);
  Coords at(lengths.size(), Coord{l.index(0)});
  at[inner] = Coord();
  for (Value operand : op.getOperands().take_front(arrays()))
    hoist(l, operand, at);
  auto vector = [&](ArrayRef<Value> from, Value mask, Values before) {
    Scope scope(l);
    at[inner] = Coord{from[0], 1, {}};
    withLanes(l, l.maxLanes, mask, [&] {
      Values state = elements(at);
      Value places = placesInRow(e, from[0], length, inRow);
      Value continues = e.cmpi(CmpIPredicate::sgt, places, numbers);
      // Lanes beyond the end hold nothing that the function need be ready for.
      if (mask)
        for (auto [value, first] : llvm::zip(state, start))
          value = e.select(mask, value, first);
      for (auto [value, first] : llvm::zip(before, start))
        value = e.select(continues, value, first);
      state = prefix(state, e.b.create<arith::MinSIOp>(e.loc, places, numbers));
      state = combined(before, state);
      for (auto [row, of] : llvm::zip(rows, op.getWanted()))
        storeAt(l, row, at, state[static_cast<size_t>(of)]);
      before = lastLane(state);
    });
    return before;
  };
  loopOfVectors(l, rows.front().extents[inner], 1, start, vector);
}

// The axis is that of vectors. Only what one vector hands on to the next depends on it, so the steps within several vectors overlap.
void Fold::alongRow(Coords &at) {
  const Emit &e = l.e;
  at[inner] = Coord();
  for (Value operand : op.getOperands().take_front(arrays()))
    hoist(l, operand, at);
  Value numbers = laneNumbers(e, l.maxLanes, e.b.getI32Type());
  Values end = loopOfVectors(l, lengths[inner], 1, starts(l.maxLanes),
                             [&](ArrayRef<Value> from, Value mask, Values before) {
                               Scope scope(l);
                               at[inner] = Coord{from[0], 1, {}};
                               withLanes(l, l.maxLanes, mask, [&] {
                                 Values state = elements(at);
                                 // Lanes beyond the end hold nothing that the function need be ready for.
                                 if (mask)
                                   for (auto [value, start] : llvm::zip(state, starts(l.maxLanes)))
                                     value = e.select(mask, value, start);
                                 state = prefix(state, numbers);
                                 storeRunning(at, combined(before, state));
                                 before = combined(before, lastLane(state));
                               });
                               return before;
                             });
  // All lanes hold the same.
  for (Value &value : end)
    value = e.b.create<vector::ExtractElementOp>(e.loc, value, l.index(0));
  storeLast(at, end);
}

void Fold::scanRows(const Coords &at, Value first, int64_t count) {
  SmallVector<Coords> rows(static_cast<size_t>(count), at);
  for (auto [n, row] : llvm::enumerate(rows)) {
    row[axis] = Coord{l.e.add(first, l.index(static_cast<int64_t>(n)))};
    row[inner] = Coord();
    for (Value operand : op.getOperands().take_front(arrays()))
      hoist(l, operand, row);
  }
  forLanes(l, lengths, inner, rows[0], 100, [&](Coords &here) {
    Coords place = {here[inner]};
    Values state;
    for (const View &view : sums)
      state.push_back(loadAt(l, view, place));
    for (Coords &row : rows) {
      row[inner] = here[inner];
      // Running results stay in registers from row to row.
      state = combined(state, elements(row));
      storeRunning(row, state);
    }
    for (auto [view, value] : llvm::zip(sums, state))
      storeAt(l, view, place, value);
  });
}

// Rows are read and written from end to end, as memory is fastest; the running results are rows that stay in a cache.
void Fold::alongColumns(Coords &at) {
  const Emit &e = l.e;
  Values begin = starts(0);
  for (auto [view, start] : llvm::zip(sums, begin))
    forAll(l, view.extents, 1, {}, [&, &view = view, &start = start](Coords &to) {
      storeAt(l, view, to, toLanes(l, start));
    });
  auto loop = [&](Value from, Value to, int64_t step) {
    e.loop(from, to, l.index(step), {}, [&](const Emit &, Value i, ValueRange) {
      Scope scope(l);
      scanRows(at, i, step);
      return SmallVector<Value>();
    });
  };
  Value count = lengths[axis];
  Value rest = e.b.createOrFold<arith::RemUIOp>(e.loc, count, l.index(kScannedAtOnce));
  Value done = e.sub(count, rest);
  loop(l.index(0), done, kScannedAtOnce);
  loop(done, count, 1);
  if (!op.getLast())
    return;
  forLanes(l, lengths, inner, at, 1, [&](Coords &here) {
    Values state;
    for (const View &view : sums)
      state.push_back(loadAt(l, view, {here[inner]}));
    storeLast(here, state);
  });
}

// Running results in registers: of one element, or of a vector of columns.
void Fold::oneByOne(Coords &at) {
  const Emit &e = l.e;
  auto end = e.loop(l.index(0), lengths[axis], l.index(1), starts(l.lanes),
                    [&](const Emit &, Value i, ValueRange carried) -> SmallVector<Value> {
                      Scope scope(l);
                      at[axis] = Coord{i};
                      Values state = combined(carried, elements(at));
                      storeRunning(at, state);
                      return {state.begin(), state.end()};
                    });
  storeLast(at, end);
}

// Running floats are kept as registers hold them, or a small one would be rounded at each step.
static Type keptAs(Type element) { return isFloatElem(element) ? registerType(element) : element; }

void Fold::emit() {
  SmallVector<int64_t> others;
  for (int64_t n = 0; n < static_cast<int64_t>(lengths.size()); ++n)
    if (n != axis && n != inner)
      others.push_back(n);
  auto width = inner < 0 ? std::nullopt : constantOf(lengths[inner]);
  // A row of one vector stays in a register, so it needs no memory for running results.
  bool isNarrow = width && *width <= l.maxLanes;
  if (inner >= 0 && inner != axis && !isNarrow)
    for (Value operand : op.getOperands().take_front(arrays()))
      sums.push_back(allocate(l, keptAs(arrayType(operand).getElementType()), {lengths[inner]}));
  auto rowByRow = [&] {
    Coords at(lengths.size());
    Scope scope(l);
    forAxes(l, lengths, others, at, [&](Coords &at) {
      if (inner < 0)
        oneByOne(at);
      else if (inner == axis)
        alongRow(at);
      else if (isNarrow)
        forLanes(l, lengths, inner, at, 100, [&](Coords &at) { oneByOne(at); });
      else
        alongColumns(at);
    });
  };
  // A fold that keeps the last results alone has no rows to write.
  if (inner < 0 || inner != axis || op.getLast())
    return rowByRow();
  whereRowsAreShort(
      l, op.getOperands().take_front(arrays()), dests, inner,
      [&](ArrayRef<View> rows) { alongShortRows(rows); }, rowByRow);
}

bool produceFold(Lowering &l, Operation *op, ArrayRef<View> dests) {
  auto fold = dyn_cast<ir::FoldOp>(op);
  if (!fold)
    return false;
  for (Value operand : op->getOperands().take_front(op->getNumOperands() / 2))
    prepare(l, operand);
  for (Value argument : fold.getBody().getArguments())
    l.extents[argument] = {l.index(1)};
  // The arrays of the body stay expressions; its scalars are there for all of them.
  for (Operation &inner : fold.getBody().front().without_terminator())
    lowerOp(l, &inner);
  Values lengths = extentsOf(l, op->getOperand(0));
  Fold{l, fold, dests, lengths, static_cast<int64_t>(fold.getAxis()), innerAxis(lengths)}.emit();
  return true;
}

} // namespace ptl::cpu
