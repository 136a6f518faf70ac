#include "passes/transform/groups/root_storage.h"

#include "passes/analysis/lengths.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

/// The only use that takes no tiles; null if there are more, or none.
static Operation *onlyUser(Value result, TakesTiles takes) {
  Operation *only = nullptr;
  for (OpOperand &use : result.getUses()) {
    if (takes && takes(use.getOwner()))
      continue;
    // A second user needs the value itself, not only its storage.
    if (only)
      return nullptr;
    only = use.getOwner();
  }
  return only;
}

StoreOp onlyStore(Value result, TakesTiles takes) {
  auto store = dyn_cast_or_null<StoreOp>(onlyUser(result, takes));
  // Scattered or atomic stores do not take tiles one by one.
  bool plain = store && store->getBlock() == result.getParentBlock() && !store.getIndex() &&
               !store.getAtomic() &&
               extentsOf(store.getRef().getType()).size() - store.getDropped().size() ==
                   extentsOf(result.getType()).size();
  if (!plain)
    return {};
  // A value that broadcasts into the box is not stored tile by tile.
  size_t axis = 0;
  llvm::ArrayRef<Extent> box = extentsOf(store.getRef().getType());
  for (size_t base = 0; base < box.size(); ++base) {
    if (llvm::is_contained(store.getDropped(), static_cast<int64_t>(base)))
      continue;
    const Extent &extent = extentsOf(result.getType())[axis++];
    if (extent.isOne() && !box[base].isOne() && !matchPattern(store.getLengths()[base], m_One()))
      return {};
  }
  return store;
}

bool mayStoreBehind(Value result, Operation *last, TakesTiles takes) {
  StoreOp store = onlyStore(result, takes);
  if (!store)
    return true;
  Block *block = result.getParentBlock();
  // The store moves to its new place across these operations.
  bool isBehind = last->isBeforeInBlock(store);
  Operation *from = isBehind ? last : store.getOperation(), *to = isBehind ? store : last;
  auto isBetween = [&](Operation *op) {
    return from->isBeforeInBlock(op) && (op == to || op->isBeforeInBlock(to));
  };
  // Operands of the store have to be made before its new place.
  bool isReady = llvm::all_of(store->getOperands(), [&](Value operand) {
    Operation *made = operand.getDefiningOp();
    return !isBehind || !made || made->getBlock() != block || !isBetween(made);
  });
  // Nothing on the way may read or write the storage.
  return isReady && llvm::none_of(store.getRef().getUsers(), [&](Operation *user) {
           Operation *here = block->findAncestorOpInBlock(*user);
           return here && here != store && !isa<DimOp>(user) && isBetween(here);
         });
}

void bringStore(OpBuilder &builder, const RootStorage &storage) {
  if (StoreOp store = storage.plain)
    store->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
}

RootStorage allocateFor(OpBuilder &builder, Value result, TakesTiles takes) {
  RootStorage storage;
  storage.result = result;
  Operation *root = result.getDefiningOp();
  // A root with several results has its grid at the root, so its stores have to move there.
  if (root->getNumResults() == 1 || mayStoreBehind(result, root))
    storage.plain = onlyStore(result, takes);
  if (storage.plain)
    return storage;
  Location loc = root->getLoc();
  auto type = cast<ArrayType>(result.getType());
  llvm::SmallVector<Value> named;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    Value length = lengthOf(builder, result, axis);
    storage.lengths.push_back(length);
    storage.offsets.push_back(builder.create<arith::ConstantIndexOp>(loc, 0));
    if (!type.getExtents()[axis].isConstant())
      named.push_back(length);
  }
  storage.ref = allocateStorage(builder, loc, type, named);
  return storage;
}

StoreOp storeFor(OpBuilder &builder, const RootStorage &storage, TakesTiles takes) {
  Value result = storage.result;
  if (storage.plain)
    return storage.plain;
  Location loc = result.getLoc();
  auto none = builder.getDenseI64ArrayAttr({});
  auto store = builder.create<StoreOp>(loc, result, storage.ref, storage.offsets, storage.lengths,
                                       ValueRange(), Value(), none, IntegerAttr(), StringAttr());
  auto load = builder.create<LoadOp>(loc, result.getType(), storage.ref, storage.offsets,
                                     storage.lengths, ValueRange(), Value(), none);
  // Other users read what the grid has stored.
  result.replaceUsesWithIf(
      load, [&](OpOperand &use) { return use.getOwner() != store && !takes(use.getOwner()); });
  return store;
}

} // namespace ptl::ir
