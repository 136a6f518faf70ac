// Products by blocks: what is packed and multiplied at a time, and which way a product takes.
#include "codegen/cpu/microkernel.h"
#include "codegen/cpu/product_direct.h"
#include "codegen/cpu/product_functions.h"
#include "codegen/cpu/product_pieces.h"
#include "codegen/cpu/product_vector.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

// Rows of A packed at a time, fewer where they are long.
static int64_t blockRows(const ProductPlan &p) { return p.depth > 256 ? 168 : 224; }
static constexpr int64_t BlockColumns = 1024; // of B packed at a time
// Where B is so narrow, each packed row of A is read no more often than this, so it should not leave the first cache in between.
static constexpr int64_t NarrowPanels = 4;
static int64_t narrowBlocks(const ProductPlan &p) { return p.depth > 256 ? 1 : 2; }

// --- packed operands ------------------------------------------------------------------------------

namespace {
/// The blocks of one width over the rows of a packed part of A.
struct Panel {
  const ProductPlan &p;
  ArrayRef<func::FuncOp> blocks; ///< of the plan
  SmallVector<size_t> sizes;     ///< of the width
  Value height;
  SmallVector<Value> arguments; ///< of a block

  void emit(const Emit &e) const;
  void rest(const Emit &e, size_t at, Value whole, Value left) const;
  void call(const Emit &e, size_t block, Value i, Value count) const;
};
} // namespace

void Panel::call(const Emit &e, size_t block, Value i, Value count) const {
  SmallVector<Value> now(arguments);
  now[0] = elementPointer(e, arguments[0], p.packed, e.mul(i, e.index(p.pitch())));
  now[2] = elementPointer(e, arguments[2], p.c, e.mul(i, arguments[3]));
  // The callee counts the rows that exist, which may be fewer than the block has.
  now[5] = count;
  callFunction(e, blocks[block], now);
}

// The smallest block that has the rows that are left wastes the least.
void Panel::rest(const Emit &e, size_t at, Value whole, Value left) const {
  if (at + 1 == sizes.size())
    return call(e, sizes[at], whole, left);
  Value fits = e.cmpi(CmpIPredicate::sle, left, p.blocks[sizes[at + 1]].rows);
  e.branch(
      fits, {},
      [&](const Emit &e) -> SmallVector<Value> {
        rest(e, at + 1, whole, left);
        return {};
      },
      [&](const Emit &e) -> SmallVector<Value> {
        call(e, sizes[at], whole, left);
        return {};
      });
}

void Panel::emit(const Emit &e) const {
  int64_t most = p.blocks[sizes.front()].rows;
  Value left = e.b.create<arith::RemUIOp>(e.loc, height, e.index(most));
  Value whole = e.sub(height, left);
  forEach(e, whole, most,
          [&](const Emit &e, Value i) { call(e, sizes.front(), i, e.index(most)); });
  e.branch(e.cmpi(CmpIPredicate::sgt, left, 0), {}, [&](const Emit &e) -> SmallVector<Value> {
    rest(e, 0, whole, left);
    return {};
  });
}

void finishPanels(const Emit &e, const ProductPlan &p, Value b, Value steps, Value width) {
  if (p.movesA())
    callFunction(e, startsFunction(e, p), {b, steps, width});
  if (p.usesMatrices())
    callFunction(e, padPanelsFunction(e, p), {b, steps, width});
}

void multiplyPacked(const Emit &e, const ProductPlan &p, ArrayRef<func::FuncOp> blocks,
                    const PackedTile &tile) {
  if (p.usesMatrices()) {
    callFunction(e, padRowsFunction(e, p), {tile.a, tile.height, tile.steps});
    configureMatrices(e);
  }
  forEach(e, tile.width, p.columns(), [&](const Emit &e, Value j) {
    Value left = minimum(e, e.index(p.columns()), e.sub(tile.width, j));
    // Panels are spaced for the full depth of the plan, as `Target::address` packs them.
    Value panelB = elementPointer(e, tile.b, p.packed, e.mul(j, e.index(p.panelRows())));
    // The number of vectors is fixed in the code of a block, so code for both widths is emitted and the choice is made when it runs.
    auto panel = [&](int64_t vectors) {
      return [&, vectors](const Emit &e) -> SmallVector<Value> {
        Panel panel{p, blocks, {}, tile.height, {}};
        panel.arguments = {tile.a,    panelB,     elementPointer(e, tile.c, p.c, j),
                           tile.cRow, tile.steps, {},
                           left,      tile.fresh};
        for (size_t block = 0; block < blocks.size(); ++block)
          if (p.blocks[block].vectors == vectors)
            // The plan lists the blocks of one width from the tallest to the lowest.
            panel.sizes.push_back(block);
        panel.emit(e);
        return {};
      };
    };
    // A block of one vector does half the work where no more columns are left.
    e.branch(e.cmpi(CmpIPredicate::sle, left, p.lanes), {}, panel(1), panel(p.vectors()));
  });
  if (p.usesMatrices())
    releaseMatrices(e);
}

std::pair<Value, Value> packedAtATime(const Emit &e, const ProductPlan &p, Value m, Value n) {
  Value isNarrow = e.cmpi(CmpIPredicate::sle, n, NarrowPanels * p.columns());
  Value rows = e.select(isNarrow, evenParts(e, m, narrowBlocks(p) * p.rows(), p.rows()),
                        evenParts(e, m, blockRows(p), p.rows()));
  return {rows, evenParts(e, n, BlockColumns, p.columns())};
}

// --- blocking ------------------------------------------------------------------------------------

namespace {
/// One instance of the blocked product while it is emitted.
struct Blocking {
  const ProductPlan &p;
  func::FuncOp packRows, packPanels;
  SmallVector<func::FuncOp> blocks; ///< of the plan
  Operands o;
  /// At a time: rows of A, columns of B, and numbers along the contracted axis.
  Value rows = {}, columns = {}, depth = {};
  Value packedA = {}, packedB = {};

  void emit(const Emit &e);
  void depths(const Emit &e, Value jc, Value pc, Value width) const;
};
} // namespace

void Blocking::depths(const Emit &e, Value jc, Value pc, Value width) const {
  Value numbers = minimum(e, depth, e.sub(o.k, pc));
  Value steps = countOf(e, numbers, p.perLane());
  // Only the first part along the contracted axis may overwrite C; the others add to it.
  Value fresh = e.bitAnd(o.fresh, e.cmpi(CmpIPredicate::eq, pc, 0));
  Value sourceB =
      elementPointer(e, o.b, storageType(p.b), e.add(e.mul(pc, o.bRow), e.mul(jc, o.bColumn)));
  // The packed panels of B serve all rows of A, so they are packed outside of that loop.
  callFunction(e, packPanels, {packedB, sourceB, o.bRow, o.bColumn, numbers, width});
  finishPanels(e, p, packedB, steps, width);
  forParts(e, o.m, rows, [&](const Emit &e, Value ic, Value height) {
    Value source =
        elementPointer(e, o.a, storageType(p.a), e.add(e.mul(ic, o.aRow), e.mul(pc, o.aColumn)));
    callFunction(e, packRows,
                 {packedA, e.index(p.pitch()), source, o.aRow, o.aColumn, height, numbers});
    Value target = elementPointer(e, o.c, p.c, e.add(e.mul(ic, o.cRow), jc));
    multiplyPacked(e, p, blocks, {packedA, packedB, target, o.cRow, height, width, steps, fresh});
  });
}

void Blocking::emit(const Emit &e) {
  int64_t bytes = p.packed.getIntOrFloatBitWidth() / 8;
  std::tie(rows, columns) = packedAtATime(e, p, o.m, o.n);
  // Packing by squares writes whole vectors along the depth.
  depth = evenParts(e, o.k, p.depth * p.perLane(), p.lanes * p.perLane());
  Value mark = emitScratchMark(e, o.context);
  // Packing writes whole vectors of rows and columns: room for them beyond the matrix.
  Value room = e.add(rows, e.index(p.lanes));
  packedA = emitScratch(e, o.context, e.mul(room, e.index(p.pitch() * bytes)));
  packedB = emitScratch(e, o.context, e.mul(columns, e.index(p.panelRows() * bytes)));
  // If memory has run out, the runtime has recorded the failure, and the caller finds it there.
  e.branch(e.bitAnd(isThere(e, packedA), isThere(e, packedB)), {},
           [&](const Emit &e) -> SmallVector<Value> {
             // B is the outer loop, since its packed part is the larger one and is to stay in a cache.
             forParts(e, o.n, columns, [&](const Emit &e, Value jc, Value width) {
               forParts(e, o.k, depth,
                        [&](const Emit &e, Value pc, Value) { depths(e, jc, pc, width); });
             });
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

// One row or one column: as a stream over the matrix, if its rows or columns lie in memory as the stream reads them.
static SmallVector<Way> vectorWays(const Emit &e, const ProductPlan &p, const Operands &o) {
  auto one = [&](Value x) { return e.cmpi(CmpIPredicate::eq, x, 1); };
  auto both = [&](Value x, Value y, Value z) { return e.bitAnd(e.bitAnd(one(x), one(y)), one(z)); };
  return {
      // Each way is for one column or one row of the result, whose operands lie side by side as the
      // way reads them: dot products along rows of the matrix, or sums of its rows with factors.
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

/// A function of the operands of a product: each long way has one of its own, so that code which is compiled as it is called has the
/// ways alone that are taken.
static func::FuncOp
functionOfOperands(const Emit &outer, const ProductPlan &p, const char *name,
                   llvm::function_ref<void(const Emit &, const Operands &)> emit) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types(13, index);
  // The context and the matrices A, B and C are pointers; the last argument, `fresh`, is a condition.
  for (size_t at : {0, 1, 4, 7})
    types[at] = pointer;
  types.back() = outer.b.getI1Type();
  return defineFunction(outer, name + p.suffix, types,
                        [&](const Emit &e, ValueRange v) { emit(e, Operands(v)); });
}

static func::FuncOp blockedFunction(const Emit &outer, const ProductPlan &p) {
  func::FuncOp packRows = packRowsFunction(outer, p), packPanels = packPanelsFunction(outer, p);
  SmallVector<func::FuncOp> blocks;
  for (RegisterBlock block : p.blocks)
    blocks.push_back(blockFunction(outer, p, block));
  return functionOfOperands(outer, p, "ptl_blocked_", [&](const Emit &e, const Operands &o) {
    Blocking{p, packRows, packPanels, blocks, o}.emit(e);
  });
}

// Registers of matrices for products that fill some of them, where the system grants them; else as without them.
static func::FuncOp matrixProductFunction(const Emit &outer, const ProductPlan &p) {
  func::FuncOp blocked = blockedFunction(outer, p),
               vectors = productFunction(outer, withoutMatrices(p, outer.unit));
  return functionOfOperands(outer, p, "ptl_product_", [&](const Emit &e, const Operands &o) {
    // Blocks write nothing where there are no steps; the function without matrices fills C with zeros then.
    Value goes = e.bitAnd(goesByMatrices(e, o.m, o.n), e.cmpi(CmpIPredicate::ne, o.k, 0));
    auto by = [&](func::FuncOp function) {
      return [&, function](const Emit &e) -> SmallVector<Value> {
        callFunction(e, function, o.values());
        return {};
      };
    };
    e.branch(goes, {}, by(blocked), by(vectors));
  });
}

func::FuncOp productFunction(const Emit &outer, const ProductPlan &p) {
  if (p.usesMatrices())
    return matrixProductFunction(outer, p);
  func::FuncOp blocked = blockedFunction(outer, p), direct;
  if (mayGoDirectly(outer, p))
    direct = functionOfOperands(outer, p, "ptl_in_place_", [&](const Emit &e, const Operands &o) {
      directWay(e, p, o).emit(e);
    });
  return functionOfOperands(outer, p, "ptl_product_", [&](const Emit &e, const Operands &o) {
    // Without any steps nothing below would write C.
    Value empty = e.bitAnd(o.fresh, e.cmpi(CmpIPredicate::eq, o.k, 0));
    SmallVector<Way> ways = {{empty, [&](const Emit &e) { zeroFill(e, p, o); }}};
    // Strides and lengths are known only when the code runs, so every way is emitted.
    ways.append(vectorWays(e, p, o));
    if (mayStream(e, p))
      ways.push_back(streamWay(e, p, o));
    if (direct)
      ways.push_back({directWay(e, p, o).condition,
                      [&](const Emit &e) { callFunction(e, direct, o.values()); }});
    firstWay(e, ways, [&](const Emit &e) { callFunction(e, blocked, o.values()); });
  });
}

void emitProduct(const Emit &e, Value context, const MatrixView &a, const MatrixView &b,
                 const MatrixView &c, Value m, Value n, Value k, bool accumulate) {
  // The function is defined once for each combination of types; lengths are arguments.
  ProductRoot root{false, a.element, b.element, storageType(c.element)};
  Value fresh = e.integer(e.b.getI1Type(), accumulate ? 0 : 1);
  callFunction(e, rootFunction(e, root),
               {context, a.data, a.rowStride, a.columnStride, b.data, b.rowStride, b.columnStride,
                c.data, c.rowStride, m, n, k, fresh});
}

} // namespace ptl::cpu
