// A few rows times a matrix: B is read once, row after row where it lies, and every number of it meets all rows of A at that time.
// Packing B would take as long as many of its multiply-adds, and packed or not, it has to come from memory once.
#include "codegen/cpu/product_direct.h"
#include "codegen/cpu/product_pack.h"
#include "codegen/cpu/product_pieces.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

// One row goes by a way of its own; with more than the most, each number of packed B is used often enough to pay for packing it. Short
// numbers are put together or converted here for each part of the columns as they are packed, and multiplied in less time. Tried with
// 4096 x 4096 and AVX-512, times of packed products of this way's: f32 2.0 with 16 rows, 1.1 with 96; bf16 1.5 to 1.8 and 1.1 with 48, f16
// 1.7 to 1.9 and 1.1; i8 1.4 and 1.1 with 32.
static constexpr int64_t kLeastStreamedRows = 2;
static int64_t mostStreamedRows(const ProductPlan &p) {
  switch (storageType(p.b).getIntOrFloatBitWidth()) {
  case 8:
    return 32;
  case 16:
    return 48;
  default:
    return 96;
  }
}
// Fewer columns go by blocks in registers, of packed or near rows of B.
static constexpr int64_t kLeastStreamedColumns = 257;
// Sums are kept in memory, for so many bytes of C at a time: a first cache. With half of it, 8 rows of 4096 x 4096 take a fifth longer,
// since each row of B is then read in shorter parts, which lie in different pages; 8 of 1024 x 4096 take an eighth less.
static constexpr int64_t kBytesOfSums = 32768;
// Vectors of lanes of B in registers, and how many of them lie side by side: as many as a line of memory has numbers for, at least.
static int64_t vectorsInRegisters(const VectorUnit &unit) { return unit.bytes >= 64 ? 16 : 8; }
static int64_t vectorsTogether(const ProductPlan &p) { return p.perLane() == 4 ? 4 : 2; }

namespace {
/// The arguments of the function, and its memory. Rows of A and C may be a power of two apart and would share few places of a first
/// cache, so both are held in the order in which they are used: of A, so many lanes of each row as B has lanes in registers, row after
/// row; of the sums, a group of vectors of each row likewise. Where the plan moves the numbers of A, one row more sums what that adds to
/// each column.
struct StreamedProduct {
  const ProductPlan &p;
  Value context, a, aRow, b, bRow, c, cRow, m, n, k, fresh;
  int64_t depth;
  Value lanes, rows; ///< along the contracted axis, and those that are summed
  Value packedA = {}, sums = {};

  StreamedProduct(const Emit &e, const ProductPlan &p, ValueRange v)
      : p(p), context(v[0]), a(v[1]), aRow(v[2]), b(v[3]), bRow(v[4]), c(v[5]), cRow(v[6]), m(v[7]),
        n(v[8]), k(v[9]), fresh(v[10]), depth(vectorsInRegisters(e.unit) / vectorsTogether(p)),
        lanes(countOf(e, k, p.perLane())), rows(p.movesA() ? e.add(m, e.index(1)) : m) {}

  int64_t bytes() const { return p.c.getIntOrFloatBitWidth() / 8; }
  int64_t vectors() const { return vectorsTogether(p); }
  int64_t together() const { return vectors() * p.lanes; }
  VectorType vector() const { return VectorType::get({p.lanes}, p.c); }
  Value part(const Emit &e) const;
  void emit(const Emit &e);
  void asMultiplied(const Emit &e);
  void packA(const Emit &e, Value whole) const;
  void packMoved(const Emit &e, Value whole) const;
  void multiply(const Emit &e, Value whole, Value start, Value length) const;
  void addRows(const Emit &e, Value row, Value start, Value length, int64_t count) const;
  void addGroup(const Emit &e, Value row, Value column, Value sums, Value left,
                int64_t count) const;
  void fetchNext(const Emit &e, Value row, Value column) const;
  void clear(const Emit &e, Value length) const;
  void store(const Emit &e, Value start, Value length) const;
  void columns(const Emit &e, Value length,
               llvm::function_ref<void(const Emit &, Value, Value, Value)> body) const;
};
} // namespace

/// Vector number `v` from `pointer` on.
static Value vectorAt(const Emit &e, const ProductPlan &p, Value pointer, size_t v) {
  return elementPointer(e, pointer, p.c, e.index(static_cast<int64_t>(v) * p.lanes));
}

// Columns at a time: whole groups of vectors.
Value StreamedProduct::part(const Emit &e) const {
  Value most = e.b.create<arith::DivUIOp>(e.loc, e.index(kBytesOfSums / bytes()), rows);
  return roundUpTo(e, minimum(e, most, n), together());
}

// Calls `body` with the first column of each group, the sums of the group, and how many columns are left, which is nothing for whole
// ones.
void StreamedProduct::columns(
    const Emit &e, Value length,
    llvm::function_ref<void(const Emit &, Value, Value, Value)> body) const {
  Value left = e.b.create<arith::RemUIOp>(e.loc, length, e.index(together()));
  // Whole groups need no masks; what is left is one group whose vectors have them.
  Value whole = e.sub(length, left);
  auto group = [&](const Emit &e, Value j, Value left) {
    body(e, j, elementPointer(e, sums, p.c, e.mul(j, rows)), left);
  };
  forEach(e, whole, together(), [&](const Emit &e, Value j) { group(e, j, {}); });
  e.branch(e.cmpi(CmpIPredicate::sgt, left, 0), {}, [&](const Emit &e) -> SmallVector<Value> {
    group(e, whole, left);
    return {};
  });
}

static bool isAsMultiplied(const ProductPlan &p, Type operand) {
  return p.unit == ProductUnit::Number && storageType(operand) == p.packed;
}

// Numbers of A that are converted, moved, or several to a lane are packed first: there are few.
void StreamedProduct::asMultiplied(const Emit &e) {
  if (isAsMultiplied(p, p.a))
    return;
  // Packing writes whole vectors of lanes and of rows.
  Value pitch = e.add(roundUpTo(e, lanes, p.lanes), e.index(p.lanes));
  Value room = e.mul(e.add(m, e.index(p.lanes)), pitch);
  Value packed = emitScratch(e, context, e.mul(room, e.index(bytes())));
  e.branch(isThere(e, packed), {}, [&](const Emit &e) -> SmallVector<Value> {
    callFunction(e, packRowsFunction(e, p), {packed, pitch, a, aRow, e.index(1), m, k});
    return {};
  });
  a = packed;
  aRow = pitch;
}

// Lanes of B from `whole` on go one by one, and so do their lanes of A.
void StreamedProduct::packA(const Emit &e, Value whole) const {
  forEach(e, m, 1, [&](const Emit &e, Value i) {
    Value from = elementPointer(e, a, p.packed, e.mul(i, aRow));
    auto copy = [&](const Emit &e, Value row, int64_t lanes) {
      Value to = e.add(e.mul(row, rows), lanes ? e.mul(i, e.index(lanes)) : i);
      storeRaw(e, elementPointer(e, packedA, p.packed, to),
               loadRaw(e, elementPointer(e, from, p.packed, row), p.packed, lanes));
    };
    // Factors of the rows that are added together lie side by side, so that one pass over the sums
    // reads them in order.
    forEach(e, whole, depth, [&](const Emit &e, Value row) { copy(e, row, depth); });
    e.loop(whole, this->lanes, e.index(1), {}, [&](const Emit &e, Value row, ValueRange) {
      copy(e, row, 0);
      return SmallVector<Value>();
    });
  });
  if (p.movesA())
    packMoved(e, whole);
}

// The row behind the others: what zeros of A are packed as.
void StreamedProduct::packMoved(const Emit &e, Value whole) const {
  Value zero = e.integer(p.packed, kMovedBytes);
  auto put = [&](const Emit &e, Value row, int64_t lanes) {
    Value to = e.add(e.mul(row, rows), lanes ? e.mul(m, e.index(lanes)) : m);
    storeRaw(e, elementPointer(e, packedA, p.packed, to),
             lanes ? e.splat(zero, VectorType::get({lanes}, p.packed)) : zero);
  };
  forEach(e, whole, depth, [&](const Emit &e, Value row) { put(e, row, depth); });
  e.loop(whole, lanes, e.index(1), {}, [&](const Emit &e, Value row, ValueRange) {
    put(e, row, 0);
    return SmallVector<Value>();
  });
}

void StreamedProduct::clear(const Emit &e, Value length) const {
  forEach(e, e.mul(roundUpTo(e, length, together()), rows), p.lanes, [&](const Emit &e, Value at) {
    storeRaw(e, elementPointer(e, sums, p.c, at), e.zero(vector()));
  });
}

// The same columns of the rows that come next: a part is too short for a processor to see by itself how it goes on.
void StreamedProduct::fetchNext(const Emit &e, Value row, Value column) const {
  Type number = storageType(p.b);
  Value first = e.mul(e.add(row, e.index(depth)), e.index(p.perLane()));
  int64_t width = together() * number.getIntOrFloatBitWidth() / 8;
  for (int64_t r = 0; r < depth * p.perLane(); ++r) {
    Value at = e.add(e.mul(e.add(first, e.index(r)), bRow), column);
    for (int64_t line = 0; line < width; line += 64)
      e.b.create<LLVM::Prefetch>(e.loc,
                                 bytePointer(e, elementPointer(e, b, number, at), e.index(line)),
                                 /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }
}

// The sums of one group += `count` lanes of B from `row` on times their lanes of A.
void StreamedProduct::addGroup(const Emit &e, Value row, Value column, Value sums, Value left,
                               int64_t count) const {
  // Rows of the matrix stay in registers while all sums go past them: the matrix is read once.
  SmallVector<Value> right;
  // The last lane alone, which is never one of several, may lack some of its numbers.
  MatrixRows matrix{b, bRow, count == depth ? Value() : k};
  for (int64_t r = 0; r < count; ++r)
    right.append(lanesInPlace(e, p, matrix, e.add(row, e.index(r)), column, left, vectors()));
  Value factors = elementPointer(e, packedA, p.packed, e.mul(row, rows));
  forEach(e, rows, 1, [&](const Emit &e, Value i) {
    Value own = elementPointer(e, factors, p.packed, e.mul(i, e.index(count)));
    Value target = elementPointer(e, sums, p.c, e.mul(i, e.index(together())));
    SmallVector<Value> now;
    for (int64_t v = 0; v < vectors(); ++v)
      now.push_back(loadRaw(e, vectorAt(e, p, target, v), p.c, p.lanes));
    for (int64_t r = 0; r < count; ++r) {
      Value number = loadRaw(e, elementPointer(e, own, p.packed, e.index(r)), p.packed, 0);
      Value factor = e.splat(number, VectorType::get({p.lanes}, p.packed));
      for (auto [v, sum] : llvm::enumerate(now))
        sum = multiplyAdd(e, p, factor, right[r * vectors() + v], sum);
    }
    for (auto [v, sum] : llvm::enumerate(now))
      storeRaw(e, vectorAt(e, p, target, v), sum);
  });
}

void StreamedProduct::addRows(const Emit &e, Value row, Value start, Value length,
                              int64_t count) const {
  columns(e, length, [&](const Emit &e, Value j, Value sums, Value left) {
    Value column = e.add(start, j);
    if (count == depth)
      fetchNext(e, row, column);
    addGroup(e, row, column, sums, left, count);
  });
}

// C = or += the sums.
void StreamedProduct::store(const Emit &e, Value start, Value length) const {
  columns(e, length, [&](const Emit &e, Value j, Value sums, Value left) {
    auto rowOf = [&](const Emit &e, Value i) {
      return elementPointer(e, sums, p.c, e.mul(i, e.index(together())));
    };
    forEach(e, m, 1, [&](const Emit &e, Value i) {
      Value from = rowOf(e, i), moved = p.movesA() ? rowOf(e, m) : Value();
      Value to = elementPointer(e, c, p.c, e.add(e.mul(i, cRow), e.add(start, j)));
      for (int64_t v = 0; v < vectors(); ++v) {
        Value mask = left ? laneMask(e, e.sub(left, e.index(v * p.lanes)), p.lanes) : Value();
        Value at = vectorAt(e, p, to, v), before = loadRaw(e, at, p.c, p.lanes, mask);
        // What C holds is ignored rather than multiplied by 0, since it may be NaN.
        before = e.select(fresh, e.zero(vector()), before);
        Value sum = loadRaw(e, vectorAt(e, p, from, v), p.c, p.lanes);
        if (moved)
          sum = e.sub(sum, loadRaw(e, vectorAt(e, p, moved, v), p.c, p.lanes));
        storeRaw(e, at, e.add(before, sum), mask);
      }
    });
  });
}

void StreamedProduct::multiply(const Emit &e, Value whole, Value start, Value length) const {
  clear(e, length);
  forEach(e, whole, depth,
          [&](const Emit &e, Value row) { addRows(e, row, start, length, depth); });
  e.loop(whole, lanes, e.index(1), {}, [&](const Emit &e, Value row, ValueRange) {
    addRows(e, row, start, length, 1);
    return SmallVector<Value>();
  });
  store(e, start, length);
}

void StreamedProduct::emit(const Emit &e) {
  Value mark = emitScratchMark(e, context), width = part(e);
  packedA = emitScratch(e, context, e.mul(e.mul(rows, lanes), e.index(bytes())));
  sums = emitScratch(e, context, e.mul(e.mul(rows, width), e.index(bytes())));
  asMultiplied(e);
  // Lanes that lack numbers are not among those that are added together.
  Value full = e.b.createOrFold<arith::DivUIOp>(e.loc, k, e.index(p.perLane()));
  Value whole = e.sub(full, e.b.create<arith::RemUIOp>(e.loc, full, e.index(depth)));
  // If memory has run out, the runtime has recorded the failure, and the caller finds it there.
  e.branch(e.bitAnd(e.bitAnd(isThere(e, packedA), isThere(e, sums)), isThere(e, a)), {},
           [&](const Emit &e) -> SmallVector<Value> {
             packA(e, whole);
             forParts(e, n, width, [&](const Emit &e, Value start, Value length) {
               multiply(e, whole, start, length);
             });
             return {};
           });
  emitScratchRelease(e, context, mark);
}

// (context, a, aRow, b, bRow, c, cRow, m, n, k, fresh)
static func::FuncOp streamFunction(const Emit &outer, const ProductPlan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer,
                             pointer,
                             index,
                             pointer,
                             index,
                             pointer,
                             index,
                             index,
                             index,
                             index,
                             outer.b.getI1Type()};
  return defineFunction(outer, "ptl_stream_" + p.suffix, types,
                        [&](const Emit &e, ValueRange v) { StreamedProduct(e, p, v).emit(e); });
}

bool mayStream(const Emit &e, const ProductPlan &p) {
  // Narrower registers have no loads under masks. Bytes that are summed as f32 are exact for so many steps only.
  return e.unit.bytes >= 32 && !p.usesMatrices() && p.sum == p.c;
}

Way streamWay(const Emit &e, const ProductPlan &p, const Operands &o) {
  auto is = [&](CmpIPredicate predicate, Value x, int64_t y) { return e.cmpi(predicate, x, y); };
  Value few = e.bitAnd(is(CmpIPredicate::uge, o.m, kLeastStreamedRows),
                       is(CmpIPredicate::ule, o.m, mostStreamedRows(p)));
  Value dense = e.bitAnd(is(CmpIPredicate::eq, o.aColumn, 1), is(CmpIPredicate::eq, o.bColumn, 1));
  Value wide = is(CmpIPredicate::uge, o.n, kLeastStreamedColumns);
  return {e.bitAnd(e.bitAnd(few, dense), wide), [&p, &o](const Emit &e) {
            callFunction(
                e, streamFunction(e, p),
                {o.context, o.a, o.aRow, o.b, o.bRow, o.c, o.cRow, o.m, o.n, o.k, o.fresh});
          }};
}

} // namespace ptl::cpu
