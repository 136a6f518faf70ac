// Operands of products outside of grids: the cube core loads rows and columns, not elements that
// lie apart in memory, and every column of tiles would gather them again.
#include "passes/transform/expand_tensors.h"

#include "passes/transform/chunk_access.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

/// Whether a part of an array skips positions of its last axis, so that nothing in it is
/// contiguous.
static bool skipsElements(SliceOp slice) {
  llvm::ArrayRef<Extent> source = extentsOf(slice.getSource().getType());
  auto last = static_cast<int64_t>(source.size()) - 1;
  if (llvm::is_contained(slice.getDropped(), last))
    return !source.back().isOne();
  return !slice.getSteps().empty() && !matchPattern(slice.getSteps().back(), m_One());
}

/// Whether a product cannot load an operand as rows and columns.
static bool isScattered(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto slice = dyn_cast<SliceOp>(op);
    if (slice && (slice.getOutside() || !isa<ArrayType>(slice.getType())))
      return false;
    if (slice && skipsElements(slice))
      return true;
    if (isa<BroadcastOp>(op) || isFill(op)) // it is nowhere in memory
      return true;
    if (!slice && !isa<CastOp, NewAxisOp, TransposeOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

void storeScatteredOperands(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (!isa<MatmulOp>(op))
      return WalkResult::advance();
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isScattered(value))
        continue;
      Value ref = storageLike(builder, op->getLoc(), value);
      storeWhole(builder, op->getLoc(), value, ref);
      operand.set(loadWhole(builder, op->getLoc(), ref, value.getType()));
    }
    return WalkResult::advance();
  });
}

} // namespace ptl::ir
