#include "passes/transform/whole_storage.h"

#include "passes/analysis/lengths.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

Value allocateStorage(OpBuilder &builder, Location loc, ArrayType type, ValueRange named) {
  auto ref = RefType::get(type.getContext(), type.getElementType(), type.getExtents(), Place::Gm);
  return builder.create<AllocOp>(loc, ref, named);
}

Value storageLike(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<ArrayType>(value.getType());
  llvm::SmallVector<Value> named;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (!type.getExtents()[axis].isConstant())
      named.push_back(lengthOf(builder, value, axis));
  return allocateStorage(builder, loc, type, named);
}

namespace {
struct WholeBox {
  llvm::SmallVector<Value> offsets, lengths;
};
} // namespace

static WholeBox wholeOf(OpBuilder &builder, Location loc, Value ref) {
  WholeBox box;
  for (int64_t axis = 0; axis < rankOf(ref.getType()); ++axis) {
    box.offsets.push_back(builder.create<arith::ConstantIndexOp>(loc, 0));
    box.lengths.push_back(lengthOf(builder, ref, axis));
  }
  return box;
}

StoreOp storeWhole(OpBuilder &builder, Location loc, Value value, Value ref) {
  WholeBox box = wholeOf(builder, loc, ref);
  return builder.create<StoreOp>(loc, value, ref, box.offsets, box.lengths, ValueRange(), Value(),
                                 builder.getDenseI64ArrayAttr({}), IntegerAttr(), StringAttr());
}

Value loadWhole(OpBuilder &builder, Location loc, Value ref, Type type) {
  WholeBox box = wholeOf(builder, loc, ref);
  return builder.create<LoadOp>(loc, type, ref, box.offsets, box.lengths, ValueRange(), Value(),
                                builder.getDenseI64ArrayAttr({}));
}

bool isUnchangedUntil(LoadOp load, Operation *end) {
  Operation *here = end ? load->getBlock()->findAncestorOpInBlock(*end) : nullptr;
  if (end && !here)
    return false;
  // Every store to the storage, also one in a loop or branch, changes what is read.
  auto stores = [&](Operation *op) {
    return op
        ->walk([&](StoreOp store) {
          return store.getRef() == load.getRef() ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  };
  for (Operation *op = load->getNextNode(); op && op != here; op = op->getNextNode())
    if (stores(op))
      return false;
  // In a branch or loop around the end, what stands behind it may have run before it.
  return here == end || !stores(here);
}

} // namespace ptl::ir
