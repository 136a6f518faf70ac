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

/// Whether tiles of a result can be stored one by one in the box of a store.
static bool isPlain(StoreOp store, Value result) {
  // Scattered or atomic stores do not take tiles one by one.
  bool plain = store->getBlock() == result.getParentBlock() && !store.getIndex() &&
               !store.getAtomic() &&
               extentsOf(store.getRef().getType()).size() - store.getDropped().size() ==
                   extentsOf(result.getType()).size();
  if (!plain)
    return false;
  // A value that broadcasts into the box is not stored tile by tile.
  size_t axis = 0;
  llvm::ArrayRef<Extent> box = extentsOf(store.getRef().getType());
  for (size_t base = 0; base < box.size(); ++base) {
    if (llvm::is_contained(store.getDropped(), static_cast<int64_t>(base)))
      continue;
    const Extent &extent = extentsOf(result.getType())[axis++];
    if (extent.isOne() && !box[base].isOne() && !matchPattern(store.getLengths()[base], m_One()))
      return false;
  }
  return true;
}

StoreOp onlyStore(Value result, TakesTiles takes) {
  auto store = dyn_cast_or_null<StoreOp>(onlyUser(result, takes));
  return store && isPlain(store, result) ? store : StoreOp();
}

/// Whether an operation of the block only computes scalars from what is there at the beginning of a part of the block, or storage as
/// long as such, so that it may as well stand there.
static bool mayMoveUp(Operation *op, llvm::function_ref<bool(Operation *)> isBetween) {
  if (!isBetween(op))
    return true;
  return (isPure(op) || isa<AllocOp>(op)) && op->getNumRegions() == 0 &&
         llvm::none_of(op->getResultTypes(), [](Type type) { return isa<ArrayType>(type); }) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           Operation *made = operand.getDefiningOp();
           return !made || made->getBlock() != op->getBlock() || mayMoveUp(made, isBetween);
         });
}

/// Brings an operation, and the scalars that it needs, to where the builder is, if they are not there yet.
static void moveUp(OpBuilder &builder, Operation *op) {
  Block *block = builder.getInsertionBlock();
  if (op->getBlock() != block || builder.getInsertionPoint() == block->end() ||
      op->isBeforeInBlock(&*builder.getInsertionPoint()))
    return;
  for (Value operand : op->getOperands())
    if (Operation *made = operand.getDefiningOp())
      moveUp(builder, made);
  // The insertion point is an operation, which may be the one to be moved: it is in its place then.
  if (op->getIterator() == builder.getInsertionPoint())
    builder.setInsertionPointAfter(op);
  else
    op->moveBefore(block, builder.getInsertionPoint());
}

/// Whether a plain store may move directly behind `last`, together with these.
static bool mayMoveBehind(StoreOp store, Operation *last, llvm::ArrayRef<StoreOp> together) {
  Block *block = store->getBlock();
  // The store moves to its new place across these operations.
  bool isBehind = last->isBeforeInBlock(store);
  Operation *from = isBehind ? last : store.getOperation(), *to = isBehind ? store : last;
  auto isBetween = [&](Operation *op) {
    return from->isBeforeInBlock(op) && (op == to || op->isBeforeInBlock(to));
  };
  // Operands of the store have to be made before its new place.
  bool isReady = llvm::all_of(store->getOperands(), [&](Value operand) {
    Operation *made = operand.getDefiningOp();
    return !isBehind || !made || made->getBlock() != block || mayMoveUp(made, isBetween);
  });
  // Nothing on the way may read or write the storage.
  return isReady && llvm::none_of(store.getRef().getUsers(), [&](Operation *user) {
           Operation *here = block->findAncestorOpInBlock(*user);
           bool goesToo = llvm::is_contained(together, dyn_cast<StoreOp>(user));
           return here && here != store && !goesToo && !isa<DimOp>(user) && isBetween(here);
         });
}

StoreOp storeToReadBack(Value result, TakesTiles takes) {
  if (StoreOp only = onlyStore(result, takes))
    return only;
  Operation *root = result.getDefiningOp();
  if (root->getNumResults() != 1)
    return {};
  StoreOp first;
  for (Operation *user : result.getUsers()) {
    auto store = dyn_cast<StoreOp>(user);
    // What is read back must be what was computed, and the others may need it right behind the root.
    bool fits = store && isPlain(store, result) && store.getSteps().empty() &&
                cast<RefType>(store.getRef().getType()).getPlace() == Place::Gm &&
                elementTypeOf(store.getRef().getType()) == elementTypeOf(result.getType()) &&
                mayMoveBehind(store, root, {});
    if (fits && (!first || store->isBeforeInBlock(first)))
      first = store;
  }
  return first;
}

bool mayStoreBehind(Value result, Operation *last, TakesTiles takes,
                    llvm::ArrayRef<StoreOp> together) {
  StoreOp store = storeToReadBack(result, takes);
  return !store || mayMoveBehind(store, last, together);
}

void bringOperands(OpBuilder &builder, const RootStorage &storage) {
  if (!storage.plain)
    return;
  for (Value operand : storage.plain->getOperands())
    if (Operation *made = operand.getDefiningOp())
      moveUp(builder, made);
}

void bringStore(OpBuilder &builder, const RootStorage &storage) {
  StoreOp store = storage.plain;
  if (!store)
    return;
  if (store->getIterator() == builder.getInsertionPoint())
    builder.setInsertionPointAfter(store);
  else
    store->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
}

RootStorage allocateFor(OpBuilder &builder, Value result, TakesTiles takes) {
  RootStorage storage;
  storage.result = result;
  Operation *root = result.getDefiningOp();
  // A root with several results has its grid at the root, so its stores have to move there.
  if (root->getNumResults() == 1 || mayStoreBehind(result, root))
    storage.plain = storeToReadBack(result, takes);
  if (storage.plain) {
    storage.isReadBack = storage.plain != onlyStore(result, takes);
    return storage;
  }
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
  StoreOp store = storage.plain;
  if (store && !storage.isReadBack)
    return store;
  Location loc = result.getLoc();
  if (!store)
    store = builder.create<StoreOp>(loc, result, storage.ref, storage.offsets, storage.lengths,
                                    ValueRange(), Value(), builder.getDenseI64ArrayAttr({}),
                                    IntegerAttr(), StringAttr());
  auto load =
      builder.create<LoadOp>(loc, result.getType(), store.getRef(), store.getOffsets(),
                             store.getLengths(), ValueRange(), Value(), store.getDroppedAttr());
  // Other users read what the grid has stored.
  result.replaceUsesWithIf(
      load, [&](OpOperand &use) { return use.getOwner() != store && !takes(use.getOwner()); });
  return store;
}

} // namespace ptl::ir
