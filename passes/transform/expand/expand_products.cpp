// Operands of products outside of grids: the cube core loads rows and columns, not elements that
// lie apart in memory, and every column of tiles would gather them again.

#include "passes/transform/expand/expand_products.h"

#include "passes/analysis/op_kinds.h"
#include "passes/transform/whole_storage.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

/// Whether a part of an array skips positions of its last axis, so that nothing in it is
/// contiguous.
static bool skipsElements(SliceOp slice) {
  llvm::ArrayRef<Extent> source = extentsOf(slice.getSource().getType());
  // A single position of the last axis of several leaves elements apart.
  auto last = static_cast<int64_t>(source.size()) - 1;
  if (llvm::is_contained(slice.getDropped(), last))
    return !source.back().isOne();
  // A step on the last axis leaves gaps.
  return !slice.getSteps().empty() && !matchPattern(slice.getSteps().back(), m_One());
}

/// The axes of what a view shows, from axes of the view.
static llvm::SmallVector<int64_t> axesBehind(Operation *view, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> behind;
  // The result's axis `i` is the source's axis `axes[i]`.
  if (auto transpose = dyn_cast<TransposeOp>(view)) {
    for (int64_t axis : axes)
      behind.push_back(transpose.getAxes()[static_cast<size_t>(axis)]);
    return behind;
  }
  // New axes have no counterpart in the source, and dropped ones none in the view.
  auto newAxes = dyn_cast<NewAxisOp>(view);
  auto slice = dyn_cast<SliceOp>(view);
  int64_t next = 0, rank = rankOf(view->getOperand(0).getType());
  if (newAxes) { // counted in the result
    for (int64_t axis = 0; axis < rankOf(newAxes.getType()); ++axis)
      if (!llvm::is_contained(newAxes.getAxes(), axis)) {
        if (llvm::is_contained(axes, axis))
          behind.push_back(next);
        ++next;
      }
    return behind;
  }
  for (int64_t axis = 0; axis < rank; ++axis) // counted in the source
    if (!slice || !llvm::is_contained(slice.getDropped(), axis)) {
      if (llvm::is_contained(axes, next))
        behind.push_back(axis);
      ++next;
    }
  return behind;
}

/// Whether a product cannot load an operand as rows and columns: of its matrices no axis is that
/// along which elements lie side by side.
static bool isScattered(Value value) {
  int64_t rank = rankOf(value.getType());
  // These are the rows and columns of each matrix.
  llvm::SmallVector<int64_t> matrix{std::max<int64_t>(rank - 2, 0), rank - 1};
  // Walk through views to what lies in memory.
  while (Operation *op = value.getDefiningOp()) {
    auto slice = dyn_cast<SliceOp>(op);
    // Values from outside of the array are no memory.
    if (slice && (slice.getOutside() || !isa<ArrayType>(slice.getType())))
      break;
    if (slice && skipsElements(slice))
      return true;
    if (isa<BroadcastOp>(op) || isFill(op)) // it is nowhere in memory
      return true;
    if (!slice && !isa<CastOp, NewAxisOp, TransposeOp>(op))
      break;
    matrix = axesBehind(op, matrix);
    value = op->getOperand(0);
  }
  // One of the matrix axes must be the one whose elements are neighbours.
  return !llvm::is_contained(matrix, rankOf(value.getType()) - 1);
}

void storeScatteredOperands(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([](Operation *op) {
    // Within grids tiles are loaded by other means.
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (!isa<MatmulOp>(op))
      return WalkResult::advance();
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isScattered(value))
        continue;
      // The operand is stored once, in order, and read back as rows.
      Value ref = storageLike(builder, op->getLoc(), value);
      storeWhole(builder, op->getLoc(), value, ref);
      operand.set(loadWhole(builder, op->getLoc(), ref, value.getType()));
    }
    return WalkResult::advance();
  });
}

} // namespace ptl::ir
