#include "codegen/cpu/microkernel.h"

#include <limits>

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

Type accumulatorType(Type a, Type b) {
  MLIRContext *context = a.getContext();
  if (isFloatElem(a))
    return a.isF64() ? a : Type(Float32Type::get(context));
  unsigned width = a.isIndex() ? 64 : std::max(a.getIntOrFloatBitWidth(), 32u);
  return IntegerType::get(context, width);
}

namespace {
/// The shape of one product: which types, and how many registers a block takes.
struct Plan {
  Type a, b, c;    // logical element types of the operands; C's storage type
  Type compute;    // what is multiplied: f32, f64, or C's integer type
  int64_t lanes;   // per vector of `compute`
  int64_t rows;    // of a register block
  int64_t vectors; // of a register block, side by side
  int64_t depth;   // most steps of k per packed panel
  std::string suffix;

  int64_t columns() const { return lanes * vectors; }
  // Rows of packed A are this far apart; odd in cache lines, so that rows do not collide.
  int64_t pitch() const { return depth + lanes; }
};

// Products of the operands' bytes are exact in f32 while their sum stays below 2^24: such integers
// use the floating point units, a bounded number of steps at a time.
bool isByte(Type t) { return t.isInteger(8) || t.isUnsignedInteger(8); }

Plan makePlan(Type a, Type b, Type c, int vectorBytes) {
  Plan p{a, b, c, c, 0, 0, 2, 256, ""};
  if (isByte(a) && isByte(b)) {
    p.compute = Float32Type::get(a.getContext());
    p.depth = a.isUnsignedInteger() || b.isUnsignedInteger() ? 256 : 512;
  }
  p.lanes = vectorBytes * 8 / p.compute.getIntOrFloatBitWidth();
  p.rows = vectorBytes >= 64 ? 14 : vectorBytes >= 32 ? 6 : 5;
  llvm::raw_string_ostream name(p.suffix);
  name << a << '_' << b << '_' << c;
  return p;
}
} // namespace

static constexpr int64_t BlockRows = 224;     // of A packed at a time
static constexpr int64_t BlockColumns = 1024; // of B packed at a time

static func::FuncOp lookup(const Emit &e, const std::string &name) {
  auto *op = e.b.getInsertionBlock()->getParentOp();
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  return module.lookupSymbol<func::FuncOp>(name);
}

// Adds a private function at the end of the module and fills it with `body`.
static func::FuncOp defineFunction(const Emit &e, const std::string &name, ArrayRef<Type> arguments,
                                   llvm::function_ref<void(const Emit &, ValueRange)> body) {
  if (auto existing = lookup(e, name))
    return existing;
  OpBuilder::InsertionGuard guard(e.b);
  auto *op = e.b.getInsertionBlock()->getParentOp();
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  e.b.setInsertionPointToEnd(module.getBody());
  auto function = e.b.create<func::FuncOp>(e.loc, name, e.b.getFunctionType(arguments, {}));
  function.setPrivate();
  function->setAttr("llvm.linkage",
                    LLVM::LinkageAttr::get(e.b.getContext(), LLVM::Linkage::Internal));
  function->setAttr("passthrough", e.b.getStrArrayAttr({"noinline"}));
  Block *entry = function.addEntryBlock();
  e.b.setInsertionPointToStart(entry);
  body(e, entry->getArguments());
  e.b.create<func::ReturnOp>(e.loc);
  return function;
}

static void call(const Emit &e, func::FuncOp function, ValueRange operands) {
  e.b.create<func::CallOp>(e.loc, function, operands);
}

static void forEach(const Emit &e, Value upper, int64_t step,
                    llvm::function_ref<void(const Emit &, Value)> body) {
  e.loop(e.index(0), upper, e.index(step), {}, [&](const Emit &inner, Value i, ValueRange) {
    body(inner, i);
    return SmallVector<Value>();
  });
}

static Value minimum(const Emit &e, Value x, Value y) {
  return e.b.createOrFold<arith::MinSIOp>(e.loc, x, y);
}

static Value roundUp(const Emit &e, Value x, int64_t unit) {
  Value sum = e.add(x, e.index(unit - 1));
  return e.mul(e.b.createOrFold<arith::DivUIOp>(e.loc, sum, e.index(unit)), e.index(unit));
}

// --- packing -------------------------------------------------------------------------------------

static Value loadCompute(const Emit &e, const Plan &p, Type logical, Value pointer, int64_t lanes,
                         Value mask = {}) {
  Value value = fromStorage(e, loadRaw(e, pointer, storageType(logical), lanes, mask), logical);
  return registerType(logical) == p.compute ? value : convertElem(e, value, logical, p.compute);
}

// Transposes lanes x lanes elements held in vectors: exchanges bit after bit of row and lane
// number.
static void transposeRegisters(const Emit &e, SmallVectorImpl<Value> &rows) {
  int64_t lanes = rows.size();
  for (int64_t bit = 1; bit < lanes; bit *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      low.push_back(lane & bit ? lanes + lane - bit : lane);
      high.push_back(lane & bit ? lanes + lane : lane + bit);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      if (row & bit)
        continue;
      Value x = rows[row], y = rows[row + bit];
      rows[row] = e.b.create<vector::ShuffleOp>(e.loc, x, y, low);
      rows[row + bit] = e.b.create<vector::ShuffleOp>(e.loc, x, y, high);
    }
  }
}

namespace {
/// Packing of a matrix: dst[r * pitch + c] = src[r * rowStride + c * columnStride].
struct Packing {
  const Plan &p;
  Type logical;
  Value dst, pitch, src, rowStride, columnStride, rows, columns;

  Value at(const Emit &e, Value r, Value c) const {
    return elementPointer(e, src, storageType(logical),
                          e.add(e.mul(r, rowStride), e.mul(c, columnStride)));
  }
  Value target(const Emit &e, Value r, Value c) const {
    return elementPointer(e, dst, p.compute, e.add(e.mul(r, pitch), c));
  }
  void byRows(const Emit &e) const;
  void byColumns(const Emit &e) const;
  void byElements(const Emit &e) const;
};
} // namespace

void Packing::byRows(const Emit &e) const {
  Value whole = e.sub(columns, e.b.create<arith::RemUIOp>(e.loc, columns, e.index(p.lanes)));
  Value partial = e.cmpi(CmpIPredicate::slt, whole, columns);
  Value mask = laneMask(e, e.sub(columns, whole), p.lanes);
  forEach(e, rows, 1, [&](const Emit &e, Value r) {
    forEach(e, whole, p.lanes, [&](const Emit &e, Value c) {
      storeRaw(e, target(e, r, c), loadCompute(e, p, logical, at(e, r, c), p.lanes));
    });
    e.branch(partial, {}, [&](const Emit &e) -> SmallVector<Value> {
      Value last = loadCompute(e, p, logical, at(e, r, whole), p.lanes, mask);
      storeRaw(e, target(e, r, whole), last);
      return {};
    });
  });
}

void Packing::byColumns(const Emit &e) const {
  Value last = e.sub(columns, e.index(1));
  forEach(e, rows, p.lanes, [&](const Emit &e, Value r) {
    Value rowMask = laneMask(e, e.sub(rows, r), p.lanes);
    forEach(e, columns, p.lanes, [&](const Emit &e, Value c) {
      SmallVector<Value> block;
      for (int64_t j = 0; j < p.lanes; ++j) {
        Value column = minimum(e, e.add(c, e.index(j)), last);
        block.push_back(loadCompute(e, p, logical, at(e, r, column), p.lanes, rowMask));
      }
      transposeRegisters(e, block);
      for (int64_t i = 0; i < p.lanes; ++i)
        storeRaw(e, target(e, e.add(r, e.index(i)), c), block[i]);
    });
  });
}

void Packing::byElements(const Emit &e) const {
  forEach(e, rows, 1, [&](const Emit &e, Value r) {
    forEach(e, columns, 1, [&](const Emit &e, Value c) {
      storeRaw(e, target(e, r, c), loadCompute(e, p, logical, at(e, r, c), 0));
    });
  });
}

// A `Packing` of r < rows, c < columns. Columns up to the next multiple of the vector are written
// too (with anything), and so may be rows.
static func::FuncOp packFunction(const Emit &outer, const Plan &p, Type logical) {
  std::string name = "ptl_pack_";
  llvm::raw_string_ostream(name) << logical << '_' << p.compute;
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, index, pointer, index, index, index, index};
  return defineFunction(outer, name, types, [&](const Emit &e, ValueRange v) {
    Packing packing{p, logical, v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
    auto by = [&](void (Packing::*way)(const Emit &) const) {
      return [&packing, way](const Emit &e) -> SmallVector<Value> {
        (packing.*way)(e);
        return {};
      };
    };
    auto byRows = by(&Packing::byRows), byColumns = by(&Packing::byColumns);
    auto byElements = by(&Packing::byElements);
    Value rowsContiguous = e.cmpi(CmpIPredicate::eq, packing.columnStride, 1);
    Value columnsContiguous = e.cmpi(CmpIPredicate::eq, packing.rowStride, 1);
    e.branch(rowsContiguous, {}, byRows, [&](const Emit &e) -> SmallVector<Value> {
      e.branch(columnsContiguous, {}, byColumns, byElements);
      return {};
    });
  });
}

// --- the register block --------------------------------------------------------------------------

// C += A * B for one full register block: packed A (rows `pitch` apart), packed B (k by columns).
static func::FuncOp blockFunction(const Emit &outer, const Plan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, pointer, pointer, index, index};
  return defineFunction(outer, "ptl_block_" + p.suffix, types, [&](const Emit &e, ValueRange v) {
    Value a = v[0], b = v[1], c = v[2], rowStride = v[3], depth = v[4];
    Type vector = VectorType::get({p.lanes}, p.compute);
    bool real = isa<FloatType>(p.compute);
    SmallVector<Value> zeros(p.rows * p.vectors, e.zero(vector));
    auto step = [&](const Emit &e, Value k, ValueRange sums) {
      SmallVector<Value> next;
      SmallVector<Value> right;
      Value rowB = e.mul(k, e.index(p.columns()));
      for (int64_t j = 0; j < p.vectors; ++j)
        right.push_back(loadRaw(e,
                                elementPointer(e, b, p.compute, e.add(rowB, e.index(j * p.lanes))),
                                p.compute, p.lanes));
      Value column = elementPointer(e, a, p.compute, k);
      for (int64_t i = 0; i < p.rows; ++i) {
        Value at = elementPointer(e, column, p.compute, e.index(i * p.pitch()));
        Value left = e.splat(loadRaw(e, at, p.compute, 0), vector);
        for (int64_t j = 0; j < p.vectors; ++j) {
          Value sum = sums[i * p.vectors + j];
          next.push_back(real ? e.fma(left, right[j], sum) : e.add(sum, e.mul(left, right[j])));
        }
      }
      return next;
    };
    SmallVector<Value> sums = e.loop(e.index(0), depth, e.index(1), zeros, step);
    for (int64_t i = 0; i < p.rows; ++i)
      for (int64_t j = 0; j < p.vectors; ++j) {
        Value offset = e.add(e.mul(rowStride, e.index(i)), e.index(j * p.lanes));
        Value at = elementPointer(e, c, p.c, offset);
        Value sum = sums[i * p.vectors + j];
        if (p.compute != p.c)
          sum = e.fptosi(sum, p.c);
        storeRaw(e, at, e.add(loadRaw(e, at, p.c, p.lanes), sum));
      }
  });
}

// Like the register block, for the `rows` x `columns` corner of one: by way of a whole block.
static func::FuncOp edgeFunction(const Emit &outer, const Plan &p) {
  auto block = blockFunction(outer, p);
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, pointer, pointer, index, index, index, index};
  return defineFunction(outer, "ptl_edge_" + p.suffix, types, [&](const Emit &e, ValueRange v) {
    Value c = v[2], rowStride = v[3], depth = v[4], rows = v[5], columns = v[6];
    Value whole = stackBuffer(e, p.c, p.rows * p.columns());
    Type vector = VectorType::get({p.lanes}, p.c);
    forEach(e, e.index(p.rows * p.columns()), p.lanes, [&](const Emit &e, Value i) {
      storeRaw(e, elementPointer(e, whole, p.c, i), e.zero(vector));
    });
    call(e, block, {v[0], v[1], whole, e.index(p.columns()), depth});
    forEach(e, rows, 1, [&](const Emit &e, Value r) {
      forEach(e, columns, p.lanes, [&](const Emit &e, Value j) {
        Value mask = laneMask(e, e.sub(columns, j), p.lanes);
        Value from = elementPointer(e, whole, p.c, e.add(e.mul(r, e.index(p.columns())), j));
        Value to = elementPointer(e, c, p.c, e.add(e.mul(r, rowStride), j));
        Value sum = e.add(loadRaw(e, to, p.c, p.lanes, mask), loadRaw(e, from, p.c, p.lanes));
        storeRaw(e, to, sum, mask);
      });
    });
  });
}

// --- blocking ------------------------------------------------------------------------------------

namespace {
/// One instance of the blocked product while it is emitted.
struct Blocking {
  const Plan &p;
  func::FuncOp packA, packB, block, edge;
  Value a = {}, aRow = {}, aColumn = {}, b = {}, bRow = {}, bColumn = {}, c = {}, cRow = {}, m = {},
        n = {}, k = {};
  Value packedA = {}, packedB = {};

  void columns(const Emit &e, Value jc) const;
  void depths(const Emit &e, Value jc, Value pc, Value width) const;
  void tiles(const Emit &e, Value jc, Value ic, Value width, Value height, Value steps) const;
};
} // namespace

void Blocking::columns(const Emit &e, Value jc) const {
  Value width = minimum(e, e.index(BlockColumns), e.sub(n, jc));
  forEach(e, k, p.depth, [&](const Emit &e, Value pc) { depths(e, jc, pc, width); });
}

void Blocking::depths(const Emit &e, Value jc, Value pc, Value width) const {
  Value steps = minimum(e, e.index(p.depth), e.sub(k, pc));
  forEach(e, width, p.columns(), [&](const Emit &e, Value j) {
    Value target = elementPointer(e, packedB, p.compute, e.mul(j, e.index(p.depth)));
    Value offset = e.add(e.mul(pc, bRow), e.mul(e.add(jc, j), bColumn));
    Value source = elementPointer(e, b, storageType(p.b), offset);
    Value count = minimum(e, e.index(p.columns()), e.sub(width, j));
    call(e, packB, {target, e.index(p.columns()), source, bRow, bColumn, steps, count});
  });
  forEach(e, m, BlockRows, [&](const Emit &e, Value ic) {
    Value height = minimum(e, e.index(BlockRows), e.sub(m, ic));
    Value source =
        elementPointer(e, a, storageType(p.a), e.add(e.mul(ic, aRow), e.mul(pc, aColumn)));
    call(e, packA, {packedA, e.index(p.pitch()), source, aRow, aColumn, height, steps});
    tiles(e, jc, ic, width, height, steps);
  });
}

void Blocking::tiles(const Emit &e, Value jc, Value ic, Value width, Value height,
                     Value steps) const {
  forEach(e, width, p.columns(), [&](const Emit &e, Value j) {
    Value columnsLeft = minimum(e, e.index(p.columns()), e.sub(width, j));
    Value panelB = elementPointer(e, packedB, p.compute, e.mul(j, e.index(p.depth)));
    forEach(e, height, p.rows, [&](const Emit &e, Value i) {
      Value rowsLeft = minimum(e, e.index(p.rows), e.sub(height, i));
      Value panelA = elementPointer(e, packedA, p.compute, e.mul(i, e.index(p.pitch())));
      Value target = elementPointer(e, c, p.c, e.add(e.mul(e.add(ic, i), cRow), e.add(jc, j)));
      Value whole = e.bitAnd(e.cmpi(CmpIPredicate::eq, rowsLeft, p.rows),
                             e.cmpi(CmpIPredicate::eq, columnsLeft, p.columns()));
      e.branch(
          whole, {},
          [&](const Emit &e) -> SmallVector<Value> {
            call(e, block, {panelA, panelB, target, cRow, steps});
            return {};
          },
          [&](const Emit &e) -> SmallVector<Value> {
            call(e, edge, {panelA, panelB, target, cRow, steps, rowsLeft, columnsLeft});
            return {};
          });
    });
  });
}

static func::FuncOp productFunction(const Emit &outer, const Plan &p) {
  Type pointer = pointerType(outer.b.getContext()), index = outer.b.getIndexType();
  SmallVector<Type> types = {pointer, pointer, index, index, pointer, index,
                             index,   pointer, index, index, index,   index};
  Blocking blocking{p, packFunction(outer, p, p.a), packFunction(outer, p, p.b),
                    blockFunction(outer, p), edgeFunction(outer, p)};
  return defineFunction(outer, "ptl_product_" + p.suffix, types, [&](const Emit &e, ValueRange v) {
    Value context = v[0];
    std::tie(blocking.a, blocking.aRow, blocking.aColumn) = std::tuple(v[1], v[2], v[3]);
    std::tie(blocking.b, blocking.bRow, blocking.bColumn) = std::tuple(v[4], v[5], v[6]);
    std::tie(blocking.c, blocking.cRow) = std::tuple(v[7], v[8]);
    std::tie(blocking.m, blocking.n, blocking.k) = std::tuple(v[9], v[10], v[11]);
    int64_t bytes = p.compute.getIntOrFloatBitWidth() / 8;
    Value mark = emitScratchMark(e, context);
    // Packing writes whole vectors of rows and columns: room for them beyond the matrix.
    Value rows =
        e.add(roundUp(e, minimum(e, blocking.m, e.index(BlockRows)), p.rows), e.index(p.lanes));
    Value columns = roundUp(e, minimum(e, blocking.n, e.index(BlockColumns)), p.columns());
    blocking.packedA = emitScratch(e, context, e.mul(rows, e.index(p.pitch() * bytes)));
    blocking.packedB = emitScratch(e, context, e.mul(columns, e.index(p.depth * bytes)));
    Value null = e.b.create<LLVM::ZeroOp>(e.loc, pointer);
    Value haveA = e.b.create<LLVM::ICmpOp>(e.loc, LLVM::ICmpPredicate::ne, blocking.packedA, null);
    Value haveB = e.b.create<LLVM::ICmpOp>(e.loc, LLVM::ICmpPredicate::ne, blocking.packedB, null);
    e.branch(e.bitAnd(haveA, haveB), {}, [&](const Emit &e) -> SmallVector<Value> {
      forEach(e, blocking.n, BlockColumns,
              [&](const Emit &e, Value jc) { blocking.columns(e, jc); });
      return {};
    });
    emitScratchRelease(e, context, mark);
  });
}

void emitProduct(const Emit &e, Value context, const MatrixView &a,
                 const MatrixView &b, const MatrixView &c, Value m, Value n, Value k) {
  Plan plan = makePlan(a.element, b.element, storageType(c.element), e.unit.bytes);
  call(e, productFunction(e, plan),
       {context, a.data, a.rowStride, a.columnStride, b.data, b.rowStride, b.columnStride, c.data,
        c.rowStride, m, n, k});
}

} // namespace ptl::cpu
