#include "passes/transform/expand/whole_values.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_kinds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::ir {

namespace {
/// Whether an operation of a grid reads an array where it lies, or asks for its length alone.
bool readsInPlace(OpOperand &use) {
  Operation *op = use.getOwner();
  bool isSource = use.getOperandNumber() == 0 && isa<SliceOp, LoadOp, TakeOp, DimOp>(op);
  return isSource || isa<ParallelOp>(op);
}

/// The first operation of the grid's body that one of these uses stands in.
Operation *firstOf(Block &body, llvm::ArrayRef<OpOperand *> uses) {
  Operation *first = nullptr;
  for (OpOperand *use : uses) {
    Operation *here = body.findAncestorOpInBlock(*use->getOwner());
    first = first && first->isBeforeInBlock(here) ? first : here;
  }
  return first;
}

/// All of an array, as a value of the grid.
Value loadWhole(OpBuilder &b, Location loc, Value array) {
  llvm::SmallVector<Value> offsets, lengths;
  for (int64_t axis = 0; axis < rankOf(array.getType()); ++axis) {
    offsets.push_back(b.create<arith::ConstantIndexOp>(loc, 0));
    lengths.push_back(lengthOf(b, array, axis));
  }
  auto type = cast<ArrayType>(array.getType());
  auto inferred = arrayTypeOf(type.getElementType(), type.getExtents());
  return b.create<SliceOp>(loc, inferred, array, offsets, lengths, ValueRange(), Value(),
                           b.getDenseI64ArrayAttr({}));
}

/// Makes the arrays from outside that the grid reads as a whole values of the grid.
void bringInto(ParallelOp grid) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(grid->getRegions(), captured);
  Block &body = grid.getBody().front();
  for (Value value : captured) {
    if (!isa<ArrayType>(value.getType()))
      continue;
    llvm::SmallVector<OpOperand *> uses;
    for (OpOperand &use : value.getUses())
      if (grid->isProperAncestor(use.getOwner()) && !readsInPlace(use))
        uses.push_back(&use);
    if (uses.empty())
      continue;
    OpBuilder b(firstOf(body, uses));
    Operation *made = value.getDefiningOp();
    // A fill is made again, since it needs no memory outside then; all others are loaded.
    Value own =
        made && isFill(made) ? b.clone(*made)->getResult(0) : loadWhole(b, value.getLoc(), value);
    for (OpOperand *use : uses)
      use->set(own);
  }
}
} // namespace

void bringIntoGrids(func::FuncOp function) {
  llvm::SmallVector<ParallelOp> grids;
  function.walk<WalkOrder::PreOrder>([&](ParallelOp grid) {
    if (!attrs::manual.isOn(grid)) // which says itself what it loads
      grids.push_back(grid);
    return WalkResult::skip();
  });
  for (ParallelOp grid : grids)
    bringInto(grid);
}

} // namespace ptl::ir
