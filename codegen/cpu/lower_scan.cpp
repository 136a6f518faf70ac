// Scans.
#include "codegen/cpu/lower_scan.h"
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/storage.h"
#include "codegen/cpu/streamed_store.h"
#include "codegen/cpu/tile_ahead.h"
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
  Value prefix(Value x) const;
  void alongRow(Coords &at) const;
  void scanRows(const Coords &at, Value first, int64_t count, Value streamed) const;
  void alongColumns(Coords &at) const;
  void oneByOne(Coords &at) const;
};
} // namespace

Value Scan::elementOf(Coords &at) const {
  return c.accept(l.e, toLanes(l, elementAt(l, operand, at)));
}

// The running results of the lanes of a vector, by doubling steps. Lanes are rotated, which takes one instruction, and those that
// have come round are left out.
Value Scan::prefix(Value x) const {
  const Emit &e = l.e;
  int64_t lanes = laneCount(x.getType());
  Value numbers = laneNumbers(e, lanes, e.b.getI32Type());
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    SmallVector<int64_t> rotated;
    for (int64_t lane = 0; lane < lanes; ++lane)
      rotated.push_back((lane + lanes - distance) % lanes);
    Value before = e.b.create<vector::ShuffleOp>(e.loc, x, x, rotated);
    x = e.select(e.cmpi(CmpIPredicate::sge, numbers, distance), c.combine(e, before, x), x);
  }
  return x;
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
    Value sums = prefix(x), before = carried[0];
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
  return true;
}

} // namespace ptl::cpu
