// Sums of products: rounds that continue each other are put together, the others are cut into pieces, as many of which are packed at a
// time as panels have room for.
#include "codegen/cpu/product_rounds.h"

#include "codegen/cpu/product_direct.h"
#include "codegen/cpu/product_functions.h"
#include "codegen/cpu/product_pack.h"
#include "codegen/cpu/product_pieces.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

static_assert(RoundTable::Words == Piece::Fields);

// --- rounds in memory ----------------------------------------------------------------------------

static Value fieldAt(const Emit &e, Value table, Value position, Piece::Field field) {
  Value at = e.add(e.mul(position, e.index(Piece::Fields)), e.index(field));
  return elementPointer(e, table, e.b.getI64Type(), at);
}

static bool isAddress(Piece::Field field) { return field == Piece::A || field == Piece::B; }

static Value loadField(const Emit &e, Value table, Value position, Piece::Field field) {
  Value at = fieldAt(e, table, position, field);
  if (isAddress(field))
    return e.b.create<LLVM::LoadOp>(e.loc, at.getType(), at, 8);
  return e.indexCast(loadRaw(e, at, e.b.getI64Type(), 0), e.b.getIndexType());
}

static void storeField(const Emit &e, Value table, Value position, Piece::Field field,
                       Value value) {
  if (!isAddress(field))
    value = e.indexCast(value, e.b.getI64Type());
  e.b.create<LLVM::StoreOp>(e.loc, value, fieldAt(e, table, position, field), 8);
}

Piece Piece::load(const Emit &e, Value table, Value position) {
  Piece piece;
  for (int field = 0; field < Fields; ++field)
    piece.values.push_back(loadField(e, table, position, static_cast<Field>(field)));
  return piece;
}

void Piece::store(const Emit &e, Value table, Value position) const {
  for (auto [field, value] : llvm::enumerate(values))
    storeField(e, table, position, static_cast<Field>(field), value);
}

void RoundTable::store(const Emit &e, Value position, const ProductRound &round) const {
  Piece piece;
  piece.values = {round.a.data,
                  round.a.rowStride,
                  round.a.columnStride,
                  round.rows.outer ? round.rows.outer : e.index(0),
                  round.rows.inner ? round.rows.inner : rows_,
                  round.b.data,
                  round.b.rowStride,
                  round.b.columnStride,
                  round.columns.outer ? round.columns.outer : e.index(0),
                  round.columns.inner ? round.columns.inner : columns_,
                  round.k};
  piece.store(e, memory_, position);
}

// --- the sum -------------------------------------------------------------------------------------

namespace {
/// The arguments of a sum's function, and what is found out about the rounds.
struct Sum {
  const ProductPlan &p;
  Value context, table, count, c, cRow, m, n, fresh;
  Value isEven = {};     ///< rows of A and columns of B are
  Value readsA = {};     ///< rows of A may be read where they lie
  Value lanes = {};      ///< of all rounds along the contracted axis
  Value pieces = {};     ///< how many there are
  Value pieceTable = {}; ///< null where memory has run out

  Sum(const ProductPlan &p, ValueRange v)
      : p(p), context(v[0]), table(v[1]), count(v[2]), c(v[3]), cRow(v[4]), m(v[5]), n(v[6]),
        fresh(v[7]) {}

  SmallVector<Value> values() const { return {context, table, count, c, cRow, m, n, fresh}; }
  Value merge(const Emit &e) const;
  void inspect(const Emit &e);
  Value pieceLength(const Emit &e, Value k) const {
    return evenParts(e, k, p.depth * p.perLane(), p.lanes * p.perLane());
  }
  void product(const Emit &e, Value round, Value isFresh) const;
  Value isBetterByRounds(const Emit &e) const;
  void cut(const Emit &e) const;
  void byPieces(const Emit &e);
  void inBlocks(const Emit &e) const;
};
} // namespace

static SmallVector<Value> none() { return {}; }

static Value moved(const Emit &e, Value pointer, Type logical, Value count, Value stride) {
  return elementPointer(e, pointer, storageType(logical), e.mul(count, stride));
}

static Value samePointer(const Emit &e, Value x, Value y) {
  return e.b.create<LLVM::ICmpOp>(e.loc, LLVM::ICmpPredicate::eq, x, y);
}

// Puts together what lies side by side, as the parts of a contraction do that a loop goes through. Returns how many rounds are left.
Value Sum::merge(const Emit &e) const {
  Value one = e.index(1);
  return e.loop(e.index(0), count, one, e.index(0), [&](const Emit &e, Value r, ValueRange kept) {
    Piece next = Piece::load(e, table, r);
    Value last = e.sub(kept[0], one);
    Value continues = e.branch(
        e.cmpi(CmpIPredicate::sgt, kept[0], 0), e.b.getI1Type(),
        [&](const Emit &e) -> SmallVector<Value> {
          Piece before = Piece::load(e, table, last);
          // The next round continues this one if its operands begin where those of this one end, and all strides are the same.
          Value same = e.bitAnd(samePointer(e, next[Piece::A],
                                            moved(e, before[Piece::A], p.a, before[Piece::Numbers],
                                                  before[Piece::AColumn])),
                                samePointer(e, next[Piece::B],
                                            moved(e, before[Piece::B], p.b, before[Piece::Numbers],
                                                  before[Piece::BRow])));
          for (auto field : {Piece::ARow, Piece::AColumn, Piece::AOuter, Piece::AInner, Piece::BRow,
                             Piece::BColumn, Piece::BOuter, Piece::BInner})
            same = e.bitAnd(same, e.cmpi(CmpIPredicate::eq, next[field], before[field]));
          return {same};
        },
        [&](const Emit &e) { return SmallVector<Value>{e.integer(e.b.getI1Type(), 0)}; })[0];
    return e.branch(
        continues, e.b.getIndexType(),
        [&](const Emit &e) -> SmallVector<Value> {
          Value sum = e.add(loadField(e, table, last, Piece::Numbers), next[Piece::Numbers]);
          storeField(e, table, last, Piece::Numbers, sum);
          return {kept[0]};
        },
        [&](const Emit &e) -> SmallVector<Value> {
          // Rounds only move to places of rounds that have been read.
          next.store(e, table, kept[0]);
          return {e.add(kept[0], one)};
        });
  })[0];
}

void Sum::inspect(const Emit &e) {
  Value yes = e.integer(e.b.getI1Type(), 1), zero = e.index(0);
  auto found = e.loop(zero, count, e.index(1), {yes, yes, zero, zero},
                      [&](const Emit &e, Value r, ValueRange so) -> SmallVector<Value> {
                        Piece round = Piece::load(e, table, r);
                        Value k = round[Piece::Numbers];
                        Value even = e.bitAnd(e.cmpi(CmpIPredicate::sge, round[Piece::AInner], m),
                                              e.cmpi(CmpIPredicate::sge, round[Piece::BInner], n));
                        Value reads = e.cmpi(CmpIPredicate::eq, round[Piece::AColumn], 1);
                        if (p.perLane() == 2)
                          // The second number of the last lane of a row would be the first one of another row.
                          reads = e.bitAnd(reads, e.cmpi(CmpIPredicate::eq, e.bitAnd(k, 1), 0));
                        // The pieces are counted with the length by which they are cut, so the table has room for exactly these.
                        Value part = pieceLength(e, k);
                        Value parts = e.b.createOrFold<arith::DivUIOp>(
                            e.loc, e.sub(e.add(k, part), e.index(1)), part);
                        return {e.bitAnd(so[0], even), e.bitAnd(so[1], reads),
                                e.add(so[2], countOf(e, k, p.perLane())), e.add(so[3], parts)};
                      });
  isEven = found[0];
  readsA = found[1];
  lanes = found[2];
  pieces = found[3];
}

void Sum::product(const Emit &e, Value round, Value isFresh) const {
  Piece piece = Piece::load(e, table, round);
  callFunction(e, productFunction(e, p),
               {context, piece[Piece::A], piece[Piece::ARow], piece[Piece::AColumn],
                piece[Piece::B], piece[Piece::BRow], piece[Piece::BColumn], c, cRow, m, n,
                piece[Piece::Numbers], isFresh});
}

// One round is a product like any other; so is each where operands are read where they lie and nothing is packed.
Value Sum::isBetterByRounds(const Emit &e) const {
  Value one = e.cmpi(CmpIPredicate::eq, count, 1);
  Value isVector = e.bitOr(e.cmpi(CmpIPredicate::eq, m, 1), e.cmpi(CmpIPredicate::eq, n, 1));
  // A product with a vector reads each element of the matrix once, so packing it first would only cost.
  Value alone = e.bitOr(one, isVector);
  if (mayGoDirectly(e, p)) {
    Piece first = Piece::load(e, table, e.index(0));
    Operands o(ValueRange{context, first[Piece::A], first[Piece::ARow], first[Piece::AColumn],
                          first[Piece::B], first[Piece::BRow], first[Piece::BColumn], c, cRow, m, n,
                          first[Piece::Numbers], fresh});
    alone = e.bitOr(alone, readsBothInPlace(e, p, o));
  }
  return e.bitAnd(isEven, alone);
}

// Pieces are as long as panels have room for at most.
void Sum::cut(const Emit &e) const {
  Value zero = e.index(0);
  e.loop(zero, count, e.index(1), zero, [&](const Emit &e, Value r, ValueRange next) {
    Piece round = Piece::load(e, table, r);
    // A round that is too long for a cache is cut into parts; both operands move along by what was
    // taken.
    Value k = round[Piece::Numbers], part = pieceLength(e, k);
    return e.loop(zero, k, part, next[0],
                  [&](const Emit &e, Value at, ValueRange next) -> SmallVector<Value> {
                    Piece piece = round;
                    piece[Piece::A] = moved(e, round[Piece::A], p.a, at, round[Piece::AColumn]);
                    piece[Piece::B] = moved(e, round[Piece::B], p.b, at, round[Piece::BRow]);
                    piece[Piece::Numbers] = minimum(e, part, e.sub(k, at));
                    piece.store(e, pieceTable, next[0]);
                    return {e.add(next[0], e.index(1))};
                  });
  });
}

static Value lanesOf(const Emit &e, const ProductPlan &p, Value table, Value piece) {
  return countOf(e, loadField(e, table, piece, Piece::Numbers), p.perLane());
}

void forRuns(const Emit &e, const ProductPlan &p, const Pieces &pieces,
             llvm::function_ref<void(const Emit &, const PieceRun &)> body) {
  Value zero = e.index(0), one = e.index(1), last = e.sub(pieces.count, one);
  // Parts of equal size, as those of a single product are.
  Value most = evenParts(e, pieces.lanes, p.depth, p.lanes);
  e.loop(zero, e.add(pieces.count, one), one, {zero, zero},
         [&](const Emit &e, Value q, ValueRange so) -> SmallVector<Value> {
           Value first = so[0], filled = so[1];
           // One turn more than there are pieces closes the last run.
           Value isEnd = e.cmpi(CmpIPredicate::eq, q, pieces.count);
           Value own = lanesOf(e, p, pieces.table, minimum(e, q, last));
           // Packing writes whole vectors behind what there is.
           Value with = e.add(filled, roundUpTo(e, own, p.lanes));
           Value isFull = e.bitAnd(e.bitOr(isEnd, e.cmpi(CmpIPredicate::sgt, with, most)),
                                   e.cmpi(CmpIPredicate::sgt, q, first));
           e.branch(isFull, {}, [&](const Emit &e) -> SmallVector<Value> {
             body(e, {first, e.sub(q, first), filled,
                      e.bitAnd(pieces.fresh, e.cmpi(CmpIPredicate::eq, first, 0))});
             return {};
           });
           return {e.select(isFull, q, first), e.add(e.select(isFull, zero, filled), own)};
         });
}

void packRun(const Emit &e, const ProductPlan &p, const Pieces &pieces, const PieceRun &run,
             Value packedB, Value column, Value width) {
  func::FuncOp packEven = packPanelsFunction(e, p), packApart = packApartFunction(e, p);
  e.loop(e.index(0), run.count, e.index(1), e.index(0),
         [&](const Emit &e, Value i, ValueRange lane) -> SmallVector<Value> {
           Piece piece = Piece::load(e, pieces.table, e.add(run.first, i));
           Value target =
               elementPointer(e, packedB, p.packed, e.mul(lane[0], e.index(p.columns())));
           Value numbers = piece[Piece::Numbers];
           // Where one line holds all columns they are even, and packed without looking for
           // ends of lines.
           e.branch(
               e.cmpi(CmpIPredicate::sge, piece[Piece::BInner], pieces.columns), {},
               [&](const Emit &e) {
                 Value source = moved(e, piece[Piece::B], p.b, column, piece[Piece::BColumn]);
                 callFunction(
                     e, packEven,
                     {target, source, piece[Piece::BRow], piece[Piece::BColumn], numbers, width});
                 return none();
               },
               [&](const Emit &e) {
                 callFunction(e, packApart,
                              {target, piece[Piece::B], piece[Piece::BRow], piece[Piece::BColumn],
                               piece[Piece::BInner], piece[Piece::BOuter], column, numbers, width});
                 return none();
               });
           return {e.add(lane[0], countOf(e, numbers, p.perLane()))};
         });
}

// Packs `height` rows of A of a piece from `first` on, as many at a time as are left of a line. What packing writes behind them is
// written again by those that follow.
static void packLines(const Emit &e, const ProductPlan &p, func::FuncOp packRows,
                      const Piece &piece, Value target, Value first, Value height) {
  Value inner = piece[Piece::AInner];
  Value line = e.b.createOrFold<arith::DivUIOp>(e.loc, first, inner);
  Value x = e.sub(first, e.mul(line, inner));
  Value end = e.add(x, height), pitch = e.index(p.pitch());
  // Column of the first line, and how many rows have been packed.
  e.loop(e.index(0), end, inner, {line, x}, [&](const Emit &e, Value start, ValueRange so) {
    Value from = so[1], count = e.sub(minimum(e, e.add(start, inner), end), e.add(start, from));
    Value source = moved(e, moved(e, piece[Piece::A], p.a, so[0], piece[Piece::AOuter]), p.a, from,
                         piece[Piece::ARow]);
    Value done = e.sub(e.add(start, from), x);
    callFunction(e, packRows,
                 {elementPointer(e, target, p.packed, e.mul(done, pitch)), pitch, source,
                  piece[Piece::ARow], piece[Piece::AColumn], count, piece[Piece::Numbers]});
    return SmallVector<Value>{e.add(so[0], e.index(1)), e.index(0)};
  });
}

void Sum::inBlocks(const Emit &e) const {
  SmallVector<func::FuncOp> blocks;
  for (RegisterBlock block : p.blocks)
    blocks.push_back(blockFunction(e, p, block));
  func::FuncOp packRows = packRowsFunction(e, p);
  int64_t bytes = p.packed.getIntOrFloatBitWidth() / 8;
  auto [rows, columns] = packedAtATime(e, p, m, n);
  // Packing may write as many rows as a vector has lanes, whatever the number of rows is.
  Value room = e.add(rows, e.index(p.lanes));
  Value packedA = emitScratch(e, context, e.mul(room, e.index(p.pitch() * bytes)));
  Value packedB = emitScratch(e, context, e.mul(columns, e.index(p.panelRows() * bytes)));
  Pieces all{pieceTable, pieces, lanes, n, fresh};
  // If memory has run out, the runtime has recorded the failure, and the caller finds it there.
  e.branch(e.bitAnd(isThere(e, packedA), isThere(e, packedB)), {}, [&](const Emit &e) {
    forParts(e, n, columns, [&](const Emit &e, Value jc, Value width) {
      forRuns(e, p, all, [&](const Emit &e, const PieceRun &run) {
        packRun(e, p, all, run, packedB, jc, width);
        finishPanels(e, p, packedB, run.lanes, width);
        forParts(e, m, rows, [&](const Emit &e, Value ic, Value height) {
          e.loop(e.index(0), run.count, e.index(1), e.index(0),
                 [&](const Emit &e, Value i, ValueRange lane) -> SmallVector<Value> {
                   Piece piece = Piece::load(e, pieceTable, e.add(run.first, i));
                   packLines(e, p, packRows, piece, elementPointer(e, packedA, p.packed, lane[0]),
                             ic, height);
                   return {e.add(lane[0], countOf(e, piece[Piece::Numbers], p.perLane()))};
                 });
          Value target = elementPointer(e, c, p.c, e.add(e.mul(ic, cRow), jc));
          multiplyPacked(e, p, blocks,
                         {packedA, packedB, target, cRow, height, width, run.lanes, run.fresh});
        });
      });
    });
    return none();
  });
}

void Sum::byPieces(const Emit &e) {
  Value mark = emitScratchMark(e, context);
  pieceTable = emitScratch(
      e, context, e.mul(pieces, e.index(static_cast<int64_t>(Piece::Fields * sizeof(int64_t)))));
  e.branch(isThere(e, pieceTable), {}, [&](const Emit &e) {
    cut(e);
    auto blocks = [&](const Emit &e) {
      inBlocks(e);
      return none();
    };
    // Reading the left operand where it lies saves packing it, if the processor and the type allow
    // that and the product is narrow.
    if (!mayGoDirectly(e, p))
      return blocks(e);
    Pieces all{pieceTable, pieces, lanes, n, fresh};
    DirectSum direct{p, all, context, c, cRow, m, n};
    e.branch(
        e.bitAnd(readsA, direct.isNarrow(e)), {},
        [&](const Emit &e) {
          direct.emit(e);
          return none();
        },
        blocks);
    return none();
  });
  emitScratchRelease(e, context, mark);
}

// (context, rounds, count, c, cRow, m, n, fresh)
static func::FuncOp functionOfSum(const Emit &outer, const ProductPlan &p, const char *name,
                                  llvm::function_ref<void(const Emit &, Sum)> emit) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, pointer, index, pointer,
                             index,   index,   index, outer.b.getI1Type()};
  return defineFunction(outer, name + p.suffix, types,
                        [&](const Emit &e, ValueRange v) { emit(e, Sum(p, v)); });
}

// A sum, where `pieces` is its long way, which has a function of its own, so that code which is compiled as it is called may go without.
static void emitWays(const Emit &e, Sum sum, func::FuncOp product, func::FuncOp pieces) {
  sum.count = sum.merge(e);
  Value zero = e.index(0);
  e.branch(
      e.cmpi(CmpIPredicate::eq, sum.count, 0), {},
      [&](const Emit &e) {
        // A product without steps writes zeros, or nothing.
        callFunction(e, product,
                     {sum.context, sum.c, zero, zero, sum.c, zero, zero, sum.c, sum.cRow, sum.m,
                      sum.n, zero, sum.fresh});
        return none();
      },
      [&](const Emit &e) {
        sum.inspect(e);
        e.branch(
            e.bitOr(sum.isBetterByRounds(e), e.cmpi(CmpIPredicate::eq, sum.lanes, 0)), {},
            [&](const Emit &e) {
              forEach(e, sum.count, 1, [&](const Emit &e, Value r) {
                sum.product(e, r, e.bitAnd(sum.fresh, e.cmpi(CmpIPredicate::eq, r, 0)));
              });
              return none();
            },
            [&](const Emit &e) {
              callFunction(e, pieces, sum.values());
              return none();
            });
        return none();
      });
}

func::FuncOp sumFunction(const Emit &outer, const ProductPlan &p) {
  func::FuncOp product = productFunction(outer, p), vectors;
  // Small products gain nothing from matrix registers, and the process may not be allowed to use them: both are known at run time only, so
  // there is code for vectors as well.
  if (p.usesMatrices())
    vectors = sumFunction(outer, withoutMatrices(p, outer.unit));
  func::FuncOp pieces = functionOfSum(outer, p, "ptl_pieces_", [](const Emit &e, Sum sum) {
    sum.inspect(e);
    sum.byPieces(e);
  });
  return functionOfSum(outer, p, "ptl_sum_", [&](const Emit &e, Sum sum) {
    if (!vectors)
      return emitWays(e, sum, product, pieces);
    e.branch(
        goesByMatrices(e, sum.m, sum.n), {},
        [&](const Emit &e) {
          emitWays(e, sum, product, pieces);
          return none();
        },
        [&](const Emit &e) {
          callFunction(e, vectors, sum.values());
          return none();
        });
  });
}

void RoundTable::emitSum(const Emit &e, Type a, Type b, const MatrixView &c, Value count,
                         bool accumulate) const {
  Value fresh = e.integer(e.b.getI1Type(), accumulate ? 0 : 1);
  callFunction(e, rootFunction(e, {true, a, b, storageType(c.element)}),
               {context_, memory_, count, c.data, c.rowStride, rows_, columns_, fresh});
}

} // namespace ptl::cpu
