// Products that read A, and often B, where they lie: packing a number takes as long as many multiply-adds, and in a narrow or small
// product each number has few.
#include "codegen/cpu/product_direct.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

// Packing A pays where each of its numbers serves more columns than this, and packing B where it serves more rows.
static constexpr int64_t kMostDirectColumns = 256, kMostDirectRows = 256;
// Rows of B that are farther apart share few places of the caches, and a page each.
static constexpr int64_t kMostBytesOfRow = 2048;

// Rows of B whose distance is a multiple of a large power of two share few sets of a first cache, of that many bytes in all. Where a
// panel does not fit them, each block reads it from further away, so it is packed if there are more than this number of rows of A.
static constexpr int64_t kFirstCache = 32768, kMostSharingRows = 32;

// Lanes along the contracted axis at a time.
static constexpr int64_t kDirectDepth = 256;

// Lanes of A in a row, up to which a block fetches nothing ahead.
static constexpr int64_t kShortRow = 128;

namespace {
/// A block, and whether it may have fewer columns than its vectors.
struct DirectSize : RegisterBlock {
  bool isMasked;
};

/// What a block is summed over: rows of one A, or of the A of each piece of a sum.
enum class Contraction : uint8_t { One, Pieces };
} // namespace

// Six rows of A, even a power of two apart, leave room for B in the sets of a first cache. Sums, B and A take 29 registers of 32, or 15
// of 16. Blocks of four rows end a product whose rows are no multiple of six. Masks cost nothing with AVX-512, so one block serves whole
// and partial columns; with AVX2 they would take more registers.
static constexpr DirectSize kWideSizes[] = {
    {{6, 4}, true}, {{4, 4}, true}, {{6, 2}, true}, {{6, 1}, true}};
static constexpr DirectSize kHalfSizes[] = {
    {{6, 2}, false}, {{4, 2}, false}, {{6, 2}, true}, {{6, 1}, true}};
// Where the blocks begin that are for all rows, and few columns.
static constexpr size_t kNarrowSizes = 2;

static ArrayRef<DirectSize> sizesFor(const VectorUnit &unit) {
  return unit.bytes >= 64 ? ArrayRef(kWideSizes) : ArrayRef(kHalfSizes);
}

static bool readsInPlace(const ProductPlan &p, Type operand) {
  return p.unit == ProductUnit::Number && storageType(operand) == p.packed && p.sum == p.c;
}

bool mayGoDirectly(const Emit &e, const ProductPlan &p) {
  // Narrower registers have no loads under masks. Pairs of A lie in memory as they are packed.
  return e.unit.bytes >= 32 && (readsInPlace(p, p.a) || p.unit == ProductUnit::Bf16Pair);
}

static Value atMost(const Emit &e, Value x, int64_t most) {
  return e.cmpi(CmpIPredicate::ule, x, most);
}

// --- a block -------------------------------------------------------------------------------------

namespace {
/// The arguments of a block's function, and the block. Of a sum, `a` is its pieces, `aRow` the number of the block's first row, and `depth`
/// the number of pieces.
struct DirectBlock {
  const ProductPlan &p;
  DirectSize size;
  Contraction contraction;
  Value a, aRow, b, bStep, bNext, c, cRow, depth, rows, columns, fresh;
  SmallVector<Value> masks; ///< of the vectors side by side; null: all lanes

  DirectBlock(const Emit &e, const ProductPlan &p, DirectSize size, Contraction contraction,
              ValueRange v)
      : p(p), size(size), contraction(contraction), a(v[0]), aRow(v[1]), b(v[2]), bStep(v[3]),
        bNext(v[4]), c(v[5]), cRow(v[6]), depth(v[7]), rows(v[8]), columns(v[9]), fresh(v[10]) {
    for (int64_t j = 0; j < size.vectors; ++j)
      masks.push_back(!size.isMasked ? Value()
                                     : laneMask(e, e.sub(columns, e.index(j * p.lanes)), p.lanes));
  }

  SmallVector<Value> rowsOf(const Emit &e, Value data, Type element, Value stride) const;
  SmallVector<Value> step(const Emit &e, ArrayRef<Value> left, Value right, Value k,
                          ValueRange sums) const;
  SmallVector<Value> rowsOf(const Emit &e, const Piece &piece, SmallVectorImpl<Value> &ahead) const;
  SmallVector<Value> along(const Emit &e, ArrayRef<Value> left, ArrayRef<Value> ahead, Value right,
                           Value steps, ValueRange sums) const;
  SmallVector<Value> alongPieces(const Emit &e, ValueRange sums) const;
  SmallVector<Value> sums(const Emit &e) const;
  void store(const Emit &e, ValueRange sums) const;
};
} // namespace

// The addresses of the block's rows. The last row that exists stands for those that do not: it is computed again, to the same values.
SmallVector<Value> DirectBlock::rowsOf(const Emit &e, Value data, Type element,
                                       Value stride) const {
  SmallVector<Value> pointers;
  Value last = e.sub(rows, e.index(1));
  for (int64_t i = 0; i < size.rows; ++i)
    pointers.push_back(
        elementPointer(e, data, element, e.mul(minimum(e, e.index(i), last), stride)));
  return pointers;
}

// The same of a piece, whose rows may lie in lines; those of the next block are added to `ahead`.
SmallVector<Value> DirectBlock::rowsOf(const Emit &e, const Piece &piece,
                                       SmallVectorImpl<Value> &ahead) const {
  Value stride = piece[Piece::ARow], inner = piece[Piece::AInner];
  auto moved = [&](const Emit &e, Value from, Value count) {
    return elementPointer(e, from, storageType(p.a), count);
  };
  Value line = e.b.createOrFold<arith::DivUIOp>(e.loc, aRow, inner);
  Value x = e.sub(aRow, e.mul(line, inner)), last = e.sub(rows, e.index(1));
  // From the last row of a line to the first one of the next.
  Value turn = e.sub(piece[Piece::AOuter], e.mul(e.sub(inner, e.index(1)), stride));
  Value row =
      moved(e, moved(e, piece[Piece::A], e.mul(line, piece[Piece::AOuter])), e.mul(x, stride));
  SmallVector<Value> pointers;
  Value kept = row;
  for (int64_t i = 0; i < 2 * size.rows; ++i) {
    if (i < size.rows)
      pointers.push_back(kept = e.select(e.cmpi(CmpIPredicate::sle, e.index(i), last), row, kept));
    else
      ahead.push_back(row);
    x = e.add(x, e.index(1));
    Value turns = e.cmpi(CmpIPredicate::eq, x, inner);
    row = moved(e, row, e.select(turns, turn, stride));
    x = e.select(turns, e.index(0), x);
  }
  return pointers;
}

// One step along the contracted axis.
SmallVector<Value> DirectBlock::step(const Emit &e, ArrayRef<Value> left, Value right, Value k,
                                     ValueRange sums) const {
  SmallVector<Value> vectors, results;
  Value rowB = e.mul(k, bStep), next = elementPointer(e, right, p.packed, bNext);
  for (int64_t j = 0; j < size.vectors; ++j) {
    // Packed panels are as wide as two vectors, and lie one behind the other.
    Value base = j < p.vectors() ? right : next;
    Value at = e.add(rowB, e.index(j % p.vectors() * p.lanes));
    vectors.push_back(
        loadRaw(e, elementPointer(e, base, p.packed, at), p.packed, p.lanes, masks[j]));
  }
  for (Value row : left) {
    Value number = loadRaw(e, elementPointer(e, row, p.packed, k), p.packed, 0);
    Value factor = e.splat(number, vectors.front().getType());
    for (Value vector : vectors)
      results.push_back(multiplyAdd(e, p, factor, vector, sums[results.size()]));
  }
  return results;
}

// Rows that begin at `left`, times rows of B that begin at `right`.
SmallVector<Value> DirectBlock::along(const Emit &e, ArrayRef<Value> left, ArrayRef<Value> ahead,
                                      Value right, Value steps, ValueRange sums) const {
  Value line = e.index(64 * 8 / p.packed.getIntOrFloatBitWidth());
  // Short rows are a few lines each, which come by themselves.
  line = e.select(atMost(e, steps, kShortRow), steps, line);
  return e.loop(e.index(0), steps, line, sums, [&](const Emit &e, Value k, ValueRange sums) {
    // The rows that the next block reads lie too far apart for a processor to see what comes. They go to the second level, since rows
    // of two blocks that are a power of two apart do not fit the sets of the first one.
    for (Value row : ahead)
      e.b.create<LLVM::Prefetch>(e.loc, elementPointer(e, row, p.packed, k), /*rw=*/0, /*hint=*/2,
                                 /*cache=*/1);
    return e.loop(
        k, minimum(e, e.add(k, line), steps), e.index(1), sums,
        [&](const Emit &e, Value k, ValueRange sums) { return step(e, left, right, k, sums); });
  });
}

SmallVector<Value> DirectBlock::alongPieces(const Emit &e, ValueRange sums) const {
  SmallVector<Value> so{b};
  so.append(sums.begin(), sums.end());
  SmallVector<Value> found =
      e.loop(e.index(0), depth, e.index(1), so,
             [&](const Emit &e, Value q, ValueRange so) -> SmallVector<Value> {
               Piece piece = Piece::load(e, a, q);
               Value steps = countOf(e, piece[Piece::Numbers], p.perLane());
               SmallVector<Value> ahead, left = rowsOf(e, piece, ahead);
               SmallVector<Value> next{elementPointer(e, so[0], p.packed, e.mul(steps, bStep))};
               next.append(along(e, left, ahead, so[0], steps, so.drop_front()));
               return next;
             });
  return SmallVector<Value>(llvm::drop_begin(found));
}

SmallVector<Value> DirectBlock::sums(const Emit &e) const {
  SmallVector<Value> zeros(size.rows * size.vectors, e.zero(VectorType::get({p.lanes}, p.sum)));
  if (contraction == Contraction::Pieces)
    return alongPieces(e, zeros);
  SmallVector<Value> left = rowsOf(e, a, storageType(p.a), aRow), ahead;
  for (int64_t i = 0; i < size.rows; ++i)
    ahead.push_back(elementPointer(e, a, storageType(p.a), e.mul(e.index(size.rows + i), aRow)));
  return along(e, left, ahead, b, depth, zeros);
}

void DirectBlock::store(const Emit &e, ValueRange sums) const {
  SmallVector<Value> lines = rowsOf(e, c, p.c, cRow), at;
  for (Value line : lines)
    for (int64_t j = 0; j < size.vectors; ++j)
      at.push_back(elementPointer(e, line, p.c, e.index(j * p.lanes)));
  // All of C is read before any of it is written, since a row may stand for several.
  SmallVector<Value> results = e.branch(
      fresh, sums.getTypes(),
      [&](const Emit &) { return SmallVector<Value>(sums.begin(), sums.end()); },
      [&](const Emit &e) {
        SmallVector<Value> added;
        for (auto [i, sum] : llvm::enumerate(sums))
          added.push_back(e.add(loadRaw(e, at[i], p.c, p.lanes, masks[i % masks.size()]), sum));
        return added;
      });
  for (auto [i, result] : llvm::enumerate(results))
    storeRaw(e, at[i], result, masks[i % masks.size()]);
}

// (a, aRow, b, bStep, bNext, c, cRow, depth, rows, columns, fresh): C = or += A * B for at most the block's rows and columns. Rows of
// B are `bStep` lanes apart, and what follows its first vectors, as many as a packed panel has, is `bNext` lanes from there.
static func::FuncOp directBlockFunction(const Emit &outer, const ProductPlan &p, DirectSize size,
                                        Contraction contraction) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer,
                             index,
                             pointer,
                             index,
                             index,
                             pointer,
                             index,
                             index,
                             index,
                             index,
                             outer.b.getI1Type()};
  std::string name = contraction == Contraction::One ? "ptl_direct" : "ptl_direct_sum";
  name += std::to_string(size.rows) + "x" + std::to_string(size.vectors) +
          (size.isMasked ? "_" : "_whole_") + p.suffix;
  return defineFunction(outer, name, types, [&](const Emit &e, ValueRange v) {
    DirectBlock block(e, p, size, contraction, v);
    block.store(e, block.sums(e));
  });
}

// --- the product ---------------------------------------------------------------------------------

namespace {
/// The rows of C while they are emitted: A where it lies, and B where it lies or packed.
struct DirectRows {
  const ProductPlan &p;
  Contraction contraction;
  Value c, cRow, m, n;
  ArrayRef<DirectSize> sizes;
  SmallVector<func::FuncOp> blocks;

  DirectRows(const Emit &e, const ProductPlan &p, Contraction contraction, Value c, Value cRow,
             Value m, Value n)
      : p(p), contraction(contraction), c(c), cRow(cRow), m(m), n(n), sizes(sizesFor(e.unit)) {
    for (DirectSize size : sizes)
      blocks.push_back(directBlockFunction(e, p, size, contraction));
  }
  /// B's rows are `bStep` lanes apart, and its columns `perColumn`.
  void emit(const Emit &e, Value a, Value aRow, Value b, Value bStep, Value perColumn, Value steps,
            Value fresh) const;

private:
  Value rowsOfFirst(const Emit &e) const;
  void block(const Emit &e, size_t number, ArrayRef<Value> arguments) const;
};

/// A product while it is emitted.
struct Direct {
  const ProductPlan &p;
  const Operands &o;
  func::FuncOp packPanels;

  Value readsA(const Emit &e) const;
  Value readsB(const Emit &e) const;
  void emit(const Emit &e) const;
};
} // namespace

// The smallest block that has the columns that are left, none of which is wider than the first.
void DirectRows::block(const Emit &e, size_t number, ArrayRef<Value> arguments) const {
  auto here = [&](const Emit &e) -> SmallVector<Value> {
    callFunction(e, blocks[number], arguments);
    return {};
  };
  // The first sizes are as wide as each other and differ in rows; the narrow ones follow them.
  size_t next = std::max(number + 1, kNarrowSizes);
  if (next == blocks.size()) {
    here(e);
    return;
  }
  int64_t most = sizes[next].vectors * p.lanes;
  // The block of the same width has masks, which only columns that are no whole vectors need.
  if (sizes[next].vectors == sizes[number].vectors)
    --most;
  Value fits = atMost(e, arguments[9], most);
  e.branch(
      fits, {},
      [&](const Emit &e) -> SmallVector<Value> {
        block(e, next, arguments);
        return {};
      },
      here);
}

// How many rows blocks of the first size take, so that those of the second have the rest and few rows are computed that do not exist.
Value DirectRows::rowsOfFirst(const Emit &e) const {
  int64_t tall = sizes[0].rows, low = sizes[1].rows;
  Value left = e.b.create<arith::RemUIOp>(e.loc, m, e.index(tall));
  Value whole = e.sub(m, left);
  // Two low blocks serve one or two rows and a tall block's better than a tall one and a low one.
  Value isShort =
      e.bitAnd(e.bitAnd(e.cmpi(CmpIPredicate::ne, left, 0), atMost(e, left, 2 * low - tall)),
               e.cmpi(CmpIPredicate::ne, whole, 0));
  Value fewer = e.select(isShort, e.sub(whole, e.index(tall)), whole);
  return e.select(atMost(e, left, low), fewer, m);
}

// Rows are the outer loop: each part of A is read once, and B, which is small, stays in a cache.
void DirectRows::emit(const Emit &e, Value a, Value aRow, Value b, Value bStep, Value perColumn,
                      Value steps, Value fresh) const {
  int64_t most = sizes.front().vectors * p.lanes;
  Value next = e.mul(perColumn, e.index(p.columns())), end = rowsOfFirst(e);
  for (size_t first : {0, 1}) {
    int64_t tall = sizes[first].rows;
    e.loop(first ? end : e.index(0), first ? m : end, e.index(tall), {},
           [&](const Emit &e, Value i, ValueRange) {
             Value height = minimum(e, e.index(tall), e.sub(m, i));
             bool isOne = contraction == Contraction::One;
             Value left = isOne ? elementPointer(e, a, storageType(p.a), e.mul(i, aRow)) : a;
             Value line = e.mul(i, cRow);
             forEach(e, n, most, [&](const Emit &e, Value j) {
               block(e, first,
                     {left, isOne ? aRow : i, elementPointer(e, b, p.packed, e.mul(j, perColumn)),
                      bStep, next, elementPointer(e, c, p.c, e.add(line, j)), cRow, steps, height,
                      minimum(e, e.index(most), e.sub(n, j)), fresh});
             });
             return SmallVector<Value>();
           });
  }
}

Value Direct::readsA(const Emit &e) const {
  Value reads = e.cmpi(CmpIPredicate::eq, o.aColumn, 1);
  if (p.perLane() == 2)
    // The second number of the last lane of a row would be the first one of another row.
    reads = e.bitAnd(reads, e.cmpi(CmpIPredicate::eq, e.bitAnd(o.k, 1), 0));
  return reads;
}

// Whether rows of B can be read where they lie.
Value Direct::readsB(const Emit &e) const {
  if (!readsInPlace(p, p.b))
    return e.integer(e.b.getI1Type(), 0);
  int64_t bytes = p.packed.getIntOrFloatBitWidth() / 8;
  Value isNear =
      e.bitAnd(e.cmpi(CmpIPredicate::eq, o.bColumn, 1), atMost(e, o.bRow, kMostBytesOfRow / bytes));
  // The largest power of two that divides the distance says how many sets the rows share.
  Value power = e.mul(e.bitAnd(o.bRow, e.sub(e.index(0), o.bRow)), e.index(bytes));
  Value depth = minimum(e, o.k, e.index(kDirectDepth));
  Value fits = atMost(e, e.mul(depth, power), kFirstCache);
  Value most = e.select(fits, e.index(kMostDirectRows), e.index(kMostSharingRows));
  return e.bitAnd(isNear, e.cmpi(CmpIPredicate::ule, o.m, most));
}

void Direct::emit(const Emit &e) const {
  int64_t bytes = p.packed.getIntOrFloatBitWidth() / 8;
  Value inPlace = readsB(e), mark = emitScratchMark(e, o.context);
  Value columns = roundUpTo(e, o.n, p.columns());
  Value packedB = emitScratch(
      e, o.context,
      e.select(inPlace, e.index(p.lanes), e.mul(columns, e.index(p.panelRows() * bytes))));
  DirectRows rows(e, p, Contraction::One, o.c, o.cRow, o.m, o.n);
  Value step = e.select(inPlace, o.bRow, e.index(p.columns()));
  Value perColumn = e.select(inPlace, e.index(1), e.index(p.panelRows()));
  Value depth = evenParts(e, o.k, kDirectDepth * p.perLane(), p.lanes * p.perLane());
  // If memory has run out, the runtime has recorded the failure, and the caller finds it there.
  e.branch(isThere(e, packedB), {}, [&](const Emit &e) -> SmallVector<Value> {
    forParts(e, o.k, depth, [&](const Emit &e, Value pc, Value numbers) {
      Value source = elementPointer(e, o.b, storageType(p.b), e.mul(pc, o.bRow));
      SmallVector<Value> right = e.branch(
          inPlace, source.getType(), [&](const Emit &) { return SmallVector<Value>{source}; },
          [&](const Emit &e) {
            callFunction(e, packPanels, {packedB, source, o.bRow, o.bColumn, numbers, o.n});
            return SmallVector<Value>{packedB};
          });
      // Only the first part along the contracted axis may overwrite C; the others add to it.
      Value fresh = e.bitAnd(o.fresh, e.cmpi(CmpIPredicate::eq, pc, 0));
      rows.emit(e, elementPointer(e, o.a, storageType(p.a), pc), o.aRow, right[0], step, perColumn,
                countOf(e, numbers, p.perLane()), fresh);
    });
    return {};
  });
  emitScratchRelease(e, o.context, mark);
}

Way directWay(const Emit &e, const ProductPlan &p, const Operands &o) {
  Direct direct{p, o, packPanelsFunction(e, p)};
  Value narrow = e.bitOr(atMost(e, o.n, kMostDirectColumns), direct.readsB(e));
  return {e.bitAnd(direct.readsA(e), narrow), [direct](const Emit &e) { direct.emit(e); }};
}

Value readsBothInPlace(const Emit &e, const ProductPlan &p, const Operands &o) {
  Direct direct{p, o, {}};
  return e.bitAnd(direct.readsA(e), direct.readsB(e));
}

Value isThere(const Emit &e, Value pointer) {
  Value null = e.b.create<LLVM::ZeroOp>(e.loc, pointerType(e.b.getContext()));
  return e.b.create<LLVM::ICmpOp>(e.loc, LLVM::ICmpPredicate::ne, pointer, null);
}

// --- a sum of products ---------------------------------------------------------------------------

Value DirectSum::isNarrow(const Emit &e) const { return atMost(e, n, kMostDirectColumns); }

void DirectSum::emit(const Emit &e) const {
  int64_t bytes = p.packed.getIntOrFloatBitWidth() / 8;
  Value columns = roundUpTo(e, n, p.columns());
  Value packedB = emitScratch(e, context, e.mul(columns, e.index(p.panelRows() * bytes)));
  DirectRows rows(e, p, Contraction::Pieces, c, cRow, m, n);
  // If memory has run out, the runtime has recorded the failure, and the caller finds it there.
  e.branch(isThere(e, packedB), {}, [&](const Emit &e) -> SmallVector<Value> {
    forRuns(e, p, pieces, [&](const Emit &e, const PieceRun &run) {
      packRun(e, p, pieces, run, packedB, e.index(0), n);
      Value first = elementPointer(e, pieces.table, e.b.getI64Type(),
                                   e.mul(run.first, e.index(Piece::Fields)));
      rows.emit(e, first, {}, packedB, e.index(p.columns()), e.index(p.panelRows()), run.count,
                run.fresh);
    });
    return {};
  });
}

} // namespace ptl::cpu
