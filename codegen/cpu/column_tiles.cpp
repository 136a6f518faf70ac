#include "codegen/cpu/column_tiles.h"

#include "codegen/cpu/elements.h"
#include "codegen/cpu/product_tiles.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/op_facts.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"

using namespace mlir;

namespace ptl::cpu {

// A row of partial results this long stays in the cache of the second level, beside the rows that are read.
static constexpr int64_t kMostBytes = 131072;
// Columns of several threads are apart by whole lines.
static constexpr int64_t kColumnUnit = 64;

static bool isVectorTimesMatrix(Operation *op) {
  return isa<ir::MatmulOp>(op) && arrayType(op->getOperand(0)).getRank() == 1 &&
         arrayType(op->getOperand(1)).getRank() == 2;
}

// Whether the operation folds or scans other axes than the last one, which is that of the tile. Lengths with such names are those of
// tiles that were made of whole arrays: names in the source have no dot.
static bool goesThroughColumns(Operation *op) {
  auto type = arrayType(op->getOperand(isVectorTimesMatrix(op) ? 1 : 0));
  if (!type || type.getRank() < 2)
    return false;
  ir::Extent last = type.getExtents().back();
  if (!last.symbol || !last.symbol.getValue().contains('.'))
    return false;
  if (isVectorTimesMatrix(op))
    return true;
  int64_t along = type.getRank() - 1;
  if (ir::isCumulative(op))
    return static_cast<int64_t>(ir::axisAlong(op)) != along;
  return ir::isReduction(op) && !llvm::is_contained(ir::reducedAxesOf(op), along);
}

static bool isOfClass(Operation *op, std::initializer_list<OpClass> classes) {
  const OpRecord *record = ir::recordOf(op);
  return record && llvm::is_contained(classes, record->opClass);
}

// The one operation of a body that goes through columns. Null if another one needs them a second time: a narrow tile of them may
// still be in a cache then.
static Operation *folded(Block &body) {
  Operation *found = nullptr;
  llvm::SmallPtrSet<Operation *, 8> behind;
  for (Operation &op : body.without_terminator()) {
    if (op.getNumRegions() != 0)
      return nullptr;
    if (isOfClass(&op, {OpClass::Reduction, OpClass::Scan}) || isVectorTimesMatrix(&op)) {
      // A second fold would read the tile again, which pays only while the tile is small.
      if (found || op.getNumResults() != 1 || !goesThroughColumns(&op))
        return nullptr;
      found = &op;
      behind.insert(&op);
      continue;
    }
    // What follows the fold may only work on its results, which are as short as a row.
    bool isBehind = llvm::any_of(op.getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && behind.contains(operand.getDefiningOp());
    });
    if (isBehind && !isa<ir::StoreOp>(op)) {
      // The result of a scan is as large as the tile, so a pass over it would need a narrow tile
      // again.
      bool isScan = isOfClass(found, {OpClass::Scan});
      auto type = op.getNumResults() == 1 ? arrayType(op.getResult(0)) : ir::ArrayType();
      auto sums = cast<ir::ArrayType>(found->getResult(0).getType());
      // A slice that only drops axes of extent 1 still has all sums.
      bool isSums = type && (type.getExtents() == sums.getExtents() ||
                             (isa<ir::SliceOp>(op) && type.getRank() < sums.getRank() &&
                              type.getExtents().back() == sums.getExtents().back()));
      if (isScan || !isSums)
        return nullptr;
      behind.insert(&op);
    }
    // Operations that move elements between columns would not be the same in tiles of another
    // width.
    bool isKnown =
        isOfClass(&op, {OpClass::Elementwise, OpClass::Comparison, OpClass::Select,
                        OpClass::Conversion, OpClass::Creation}) ||
        isa<ir::SliceOp, ir::LoadOp, ir::StoreOp>(op) ||
        llvm::none_of(op.getResultTypes(), [](Type type) { return isa<ir::ArrayType>(type); });
    if (!isKnown)
      return nullptr;
  }
  return found;
}

// How many points the grid has along its axes but the last one.
static Value otherPoints(Lowering &l, ir::ParallelOp op, ArrayRef<Value> steps) {
  const Emit &e = l.e;
  Value count = l.index(1);
  for (size_t axis = 0; axis + 1 < steps.size(); ++axis) {
    Value span = e.sub(scalarOf(l, op.getUpper()[axis]), scalarOf(l, op.getLower()[axis]));
    span = e.b.createOrFold<arith::MaxSIOp>(e.loc, span, l.index(0));
    Value up = e.add(span, e.sub(steps[axis], l.index(1)));
    count = e.mul(count, e.b.createOrFold<arith::DivUIOp>(e.loc, up, steps[axis]));
  }
  return count;
}

void chooseColumnTiles(Lowering &l, ir::ParallelOp op, SmallVectorImpl<Value> &steps) {
  if (steps.empty() || attrs::tiled.isOn(op) || !tileLengthOf(op, steps.size() - 1))
    return;
  Operation *fold = folded(op.getBody().front());
  if (!fold)
    return;
  const Emit &e = l.e;
  auto divideUp = [&](Value x, Value y) {
    Value up = e.add(x, e.sub(y, l.index(1)));
    return e.b.createOrFold<arith::DivUIOp>(e.loc, up, y);
  };
  auto atLeast = [&](Value x, Value least) {
    return e.b.createOrFold<arith::MaxSIOp>(e.loc, x, least);
  };
  auto upper = scalarOf(l, op.getUpper().back()), lower = scalarOf(l, op.getLower().back());
  Value columns = atLeast(e.sub(upper, lower), l.index(0));
  // The number of threads is known only when the code runs, and with it how many tiles are needed.
  Value threads =
      e.indexCast(e.call("ptl_rt_thread_count", e.b.getI32Type(), l.context), e.b.getIndexType());
  Value others = atLeast(otherPoints(l, op, steps), l.index(1));
  Type element = cast<ir::ArrayType>(fold->getResult(0).getType()).getElementType();
  // Sums of narrow elements are kept in at least four bytes.
  int64_t bytes = std::max<int64_t>(4, storageType(element).getIntOrFloatBitWidth() / 8);
  // There are enough tiles for all threads, and so many that one row of results fits the cache.
  Value parts = atLeast(divideUp(threads, others), divideUp(columns, l.index(kMostBytes / bytes)));
  Value each = divideUp(columns, atLeast(parts, l.index(1)));
  each = e.mul(divideUp(each, l.index(kColumnUnit)), l.index(kColumnUnit));
  // Tiles only become wider: the step of the source is the least that is sensible.
  steps.back() = atLeast(each, steps.back());
}

} // namespace ptl::cpu
