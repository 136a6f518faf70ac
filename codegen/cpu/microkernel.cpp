// The register block of a product, and the blocking for caches round it.
#include "codegen/cpu/microkernel.h"
#include "codegen/cpu/product_plan.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

static constexpr int64_t BlockRows = 224;     // of A packed at a time
static constexpr int64_t BlockColumns = 1024; // of B packed at a time

// --- the register block --------------------------------------------------------------------------

static Value multiplyAdd(const Emit &e, const ProductPlan &p, Value x, Value y, Value sum) {
  switch (p.unit) {
  case ProductUnit::Number:
    return isa<FloatType>(p.sum) ? e.fma(x, y, sum) : e.add(sum, e.mul(x, y));
  case ProductUnit::I16Pair:
    return e.intrinsic("llvm.x86.avx512.vpdpwssd.512", sum.getType(), {sum, x, y});
  case ProductUnit::Bf16Pair: {
    Type type = VectorType::get({p.lanes * 2}, e.b.getBF16Type());
    x = e.b.create<vector::BitCastOp>(e.loc, type, x);
    y = e.b.create<vector::BitCastOp>(e.loc, type, y);
    return e.intrinsic("llvm.x86.avx512bf16.dpbf16ps.512", sum.getType(), {sum, x, y});
  }
  }
  llvm_unreachable("unknown unit of products");
}

// C = or += A * B for one full register block: packed A (rows `pitch` apart), packed B (depth by columns).
static func::FuncOp blockFunction(const Emit &outer, const ProductPlan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, pointer, pointer, index, index, outer.b.getI1Type()};
  return defineFunction(outer, "ptl_block_" + p.suffix, types, [&](const Emit &e, ValueRange v) {
    Value a = v[0], b = v[1], c = v[2], rowStride = v[3], depth = v[4], fresh = v[5];
    Type packed = VectorType::get({p.lanes}, p.packed);
    SmallVector<Value> zeros(p.rows * p.vectors, e.zero(VectorType::get({p.lanes}, p.sum)));
    auto step = [&](const Emit &e, Value k, ValueRange sums) {
      SmallVector<Value> next;
      SmallVector<Value> right;
      Value rowB = e.mul(k, e.index(p.columns()));
      for (int64_t j = 0; j < p.vectors; ++j)
        right.push_back(loadRaw(e,
                                elementPointer(e, b, p.packed, e.add(rowB, e.index(j * p.lanes))),
                                p.packed, p.lanes));
      Value column = elementPointer(e, a, p.packed, k);
      for (int64_t i = 0; i < p.rows; ++i) {
        Value at = elementPointer(e, column, p.packed, e.index(i * p.pitch()));
        Value left = e.splat(loadRaw(e, at, p.packed, 0), packed);
        for (int64_t j = 0; j < p.vectors; ++j)
          next.push_back(multiplyAdd(e, p, left, right[j], sums[i * p.vectors + j]));
      }
      return next;
    };
    SmallVector<Value> sums = e.loop(e.index(0), depth, e.index(1), zeros, step);
    // What C holds counts as zeros where it is fresh: lanes that are not loaded are zeros.
    Value held = e.bitNot(e.splat(fresh, VectorType::get({p.lanes}, e.b.getI1Type())));
    for (int64_t i = 0; i < p.rows; ++i)
      for (int64_t j = 0; j < p.vectors; ++j) {
        Value offset = e.add(e.mul(rowStride, e.index(i)), e.index(j * p.lanes));
        Value at = elementPointer(e, c, p.c, offset);
        Value sum = sums[i * p.vectors + j];
        if (p.sum != p.c)
          sum = e.fptosi(sum, p.c);
        storeRaw(e, at, e.add(loadRaw(e, at, p.c, p.lanes, held), sum));
      }
  });
}

// Like the register block, for the `rows` x `columns` corner of one: by way of a whole block.
static func::FuncOp edgeFunction(const Emit &outer, const ProductPlan &p) {
  auto block = blockFunction(outer, p);
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, pointer, pointer, index,
                             index,   index,   index,   outer.b.getI1Type()};
  return defineFunction(outer, "ptl_edge_" + p.suffix, types, [&](const Emit &e, ValueRange v) {
    Value c = v[2], rowStride = v[3], depth = v[4], rows = v[5], columns = v[6], fresh = v[7];
    Value whole = stackBuffer(e, p.c, p.rows * p.columns());
    Value yes = e.integer(e.b.getI1Type(), 1);
    callFunction(e, block, {v[0], v[1], whole, e.index(p.columns()), depth, yes});
    forEach(e, rows, 1, [&](const Emit &e, Value r) {
      forEach(e, columns, p.lanes, [&](const Emit &e, Value j) {
        Value mask = laneMask(e, e.sub(columns, j), p.lanes);
        Value from = elementPointer(e, whole, p.c, e.add(e.mul(r, e.index(p.columns())), j));
        Value to = elementPointer(e, c, p.c, e.add(e.mul(r, rowStride), j));
        Value before = loadRaw(e, to, p.c, p.lanes, mask);
        before = e.select(fresh, e.zero(before.getType()), before);
        storeRaw(e, to, e.add(before, loadRaw(e, from, p.c, p.lanes)), mask);
      });
    });
  });
}

// --- blocking ------------------------------------------------------------------------------------

namespace {
/// The arguments of a product's function.
struct Operands {
  Value context, a, aRow, aColumn, b, bRow, bColumn, c, cRow, m, n, k, fresh;

  explicit Operands(ValueRange v)
      : context(v[0]), a(v[1]), aRow(v[2]), aColumn(v[3]), b(v[4]), bRow(v[5]), bColumn(v[6]),
        c(v[7]), cRow(v[8]), m(v[9]), n(v[10]), k(v[11]), fresh(v[12]) {}
};

/// One instance of the blocked product while it is emitted.
struct Blocking {
  const ProductPlan &p;
  func::FuncOp packRows, packPanels, block, edge;
  Operands o;
  Value packedA = {}, packedB = {};

  void emit(const Emit &e);
  void columns(const Emit &e, Value jc) const;
  void depths(const Emit &e, Value jc, Value pc, Value width) const;
  void tiles(const Emit &e, Value jc, Value ic, Value width, Value height, Value steps,
             Value fresh) const;
};
} // namespace

void Blocking::columns(const Emit &e, Value jc) const {
  Value width = minimum(e, e.index(BlockColumns), e.sub(o.n, jc));
  forEach(e, o.k, p.depth * p.perLane(),
          [&](const Emit &e, Value pc) { depths(e, jc, pc, width); });
}

void Blocking::depths(const Emit &e, Value jc, Value pc, Value width) const {
  Value numbers = minimum(e, e.index(p.depth * p.perLane()), e.sub(o.k, pc));
  Value steps = countOf(e, numbers, p.perLane());
  Value fresh = e.bitAnd(o.fresh, e.cmpi(CmpIPredicate::eq, pc, 0));
  Value sourceB =
      elementPointer(e, o.b, storageType(p.b), e.add(e.mul(pc, o.bRow), e.mul(jc, o.bColumn)));
  callFunction(e, packPanels, {packedB, sourceB, o.bRow, o.bColumn, numbers, width});
  forEach(e, o.m, BlockRows, [&](const Emit &e, Value ic) {
    Value height = minimum(e, e.index(BlockRows), e.sub(o.m, ic));
    Value source =
        elementPointer(e, o.a, storageType(p.a), e.add(e.mul(ic, o.aRow), e.mul(pc, o.aColumn)));
    callFunction(e, packRows,
                 {packedA, e.index(p.pitch()), source, o.aRow, o.aColumn, height, numbers});
    tiles(e, jc, ic, width, height, steps, fresh);
  });
}

void Blocking::tiles(const Emit &e, Value jc, Value ic, Value width, Value height, Value steps,
                     Value fresh) const {
  forEach(e, width, p.columns(), [&](const Emit &e, Value j) {
    Value columnsLeft = minimum(e, e.index(p.columns()), e.sub(width, j));
    Value panelB = elementPointer(e, packedB, p.packed, e.mul(j, e.index(p.depth)));
    forEach(e, height, p.rows, [&](const Emit &e, Value i) {
      Value rowsLeft = minimum(e, e.index(p.rows), e.sub(height, i));
      Value panelA = elementPointer(e, packedA, p.packed, e.mul(i, e.index(p.pitch())));
      Value target = elementPointer(e, o.c, p.c, e.add(e.mul(e.add(ic, i), o.cRow), e.add(jc, j)));
      Value whole = e.bitAnd(e.cmpi(CmpIPredicate::eq, rowsLeft, p.rows),
                             e.cmpi(CmpIPredicate::eq, columnsLeft, p.columns()));
      e.branch(
          whole, {},
          [&](const Emit &e) -> SmallVector<Value> {
            callFunction(e, block, {panelA, panelB, target, o.cRow, steps, fresh});
            return {};
          },
          [&](const Emit &e) -> SmallVector<Value> {
            callFunction(e, edge,
                         {panelA, panelB, target, o.cRow, steps, rowsLeft, columnsLeft, fresh});
            return {};
          });
    });
  });
}

void Blocking::emit(const Emit &e) {
  int64_t bytes = p.packed.getIntOrFloatBitWidth() / 8;
  Value mark = emitScratchMark(e, o.context);
  // Packing writes whole vectors of rows and columns: room for them beyond the matrix.
  Value rows = e.add(roundUpTo(e, minimum(e, o.m, e.index(BlockRows)), p.rows), e.index(p.lanes));
  Value columns = roundUpTo(e, minimum(e, o.n, e.index(BlockColumns)), p.columns());
  packedA = emitScratch(e, o.context, e.mul(rows, e.index(p.pitch() * bytes)));
  packedB = emitScratch(e, o.context, e.mul(columns, e.index(p.depth * bytes)));
  Value null = e.b.create<LLVM::ZeroOp>(e.loc, pointerType(e.b.getContext()));
  Value haveA = e.b.create<LLVM::ICmpOp>(e.loc, LLVM::ICmpPredicate::ne, packedA, null);
  Value haveB = e.b.create<LLVM::ICmpOp>(e.loc, LLVM::ICmpPredicate::ne, packedB, null);
  e.branch(e.bitAnd(haveA, haveB), {}, [&](const Emit &e) -> SmallVector<Value> {
    forEach(e, o.n, BlockColumns, [&](const Emit &e, Value jc) { this->columns(e, jc); });
    return {};
  });
  emitScratchRelease(e, o.context, mark);
}

// --- which way ------------------------------------------------------------------------------------

static void zeroFill(const Emit &e, const ProductPlan &p, const Operands &o) {
  forEach(e, o.m, 1, [&](const Emit &e, Value i) {
    forEach(e, o.n, p.lanes, [&](const Emit &e, Value j) {
      Value at = elementPointer(e, o.c, p.c, e.add(e.mul(i, o.cRow), j));
      storeRaw(e, at, e.zero(VectorType::get({p.lanes}, p.c)), laneMask(e, e.sub(o.n, j), p.lanes));
    });
  });
}

namespace {
/// A way to compute a product, and when it may be taken.
struct Way {
  Value condition;
  std::function<void(const Emit &)> emit;
};
} // namespace

// One row or one column: as a stream over the matrix, if its rows or columns lie in memory as the stream reads them.
static SmallVector<Way> vectorWays(const Emit &e, const ProductPlan &p, const Operands &o) {
  auto one = [&](Value x) { return e.cmpi(CmpIPredicate::eq, x, 1); };
  auto both = [&](Value x, Value y, Value z) { return e.bitAnd(e.bitAnd(one(x), one(y)), one(z)); };
  return {
      {both(o.n, o.aColumn, o.bRow),
       [&](const Emit &e) {
         callFunction(e, dotsFunction(e, p, p.a, p.b),
                      {o.c, o.cRow, o.a, o.aRow, o.b, o.m, o.k, o.fresh});
       }},
      {both(o.n, o.aRow, o.cRow),
       [&](const Emit &e) {
         callFunction(e, combinationFunction(e, p, p.a, p.b),
                      {o.c, o.a, o.aColumn, o.b, o.bRow, o.m, o.k, o.fresh});
       }},
      {both(o.m, o.bRow, o.aColumn),
       [&](const Emit &e) {
         callFunction(e, dotsFunction(e, p, p.b, p.a),
                      {o.c, e.index(1), o.b, o.bColumn, o.a, o.n, o.k, o.fresh});
       }},
      {e.bitAnd(one(o.m), one(o.bColumn)),
       [&](const Emit &e) {
         callFunction(e, combinationFunction(e, p, p.b, p.a),
                      {o.c, o.b, o.bRow, o.a, o.aColumn, o.n, o.k, o.fresh});
       }},
  };
}

static void firstWay(const Emit &e, ArrayRef<Way> ways,
                     llvm::function_ref<void(const Emit &)> last) {
  if (ways.empty())
    return last(e);
  e.branch(
      ways.front().condition, {},
      [&](const Emit &e) -> SmallVector<Value> {
        ways.front().emit(e);
        return {};
      },
      [&](const Emit &e) -> SmallVector<Value> {
        firstWay(e, ways.drop_front(), last);
        return {};
      });
}

static func::FuncOp productFunction(const Emit &outer, const ProductPlan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer,
                             pointer,
                             index,
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
  func::FuncOp packRows = packRowsFunction(outer, p), packPanels = packPanelsFunction(outer, p);
  func::FuncOp block = blockFunction(outer, p), edge = edgeFunction(outer, p);
  return defineFunction(outer, "ptl_product_" + p.suffix, types, [&](const Emit &e, ValueRange v) {
    Operands o(v);
    Value empty = e.bitAnd(o.fresh, e.cmpi(CmpIPredicate::eq, o.k, 0));
    SmallVector<Way> ways = {{empty, [&](const Emit &e) { zeroFill(e, p, o); }}};
    ways.append(vectorWays(e, p, o));
    firstWay(e, ways,
             [&](const Emit &e) { Blocking{p, packRows, packPanels, block, edge, o}.emit(e); });
  });
}

void emitProduct(const Emit &e, Value context, const MatrixView &a, const MatrixView &b,
                 const MatrixView &c, Value m, Value n, Value k, bool accumulate) {
  ProductPlan plan = makeProductPlan(a.element, b.element, storageType(c.element), e.unit);
  Value fresh = e.integer(e.b.getI1Type(), accumulate ? 0 : 1);
  callFunction(e, productFunction(e, plan),
               {context, a.data, a.rowStride, a.columnStride, b.data, b.rowStride, b.columnStride,
                c.data, c.rowStride, m, n, k, fresh});
}

} // namespace ptl::cpu
