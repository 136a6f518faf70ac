#include "passes/transform/output_views.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/lengths.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::ir {

/// Whether a value is a dense output of the entry that nothing but one store uses.
static bool isPlainOutput(Value ref, StoreOp store) {
  auto argument = dyn_cast<BlockArgument>(ref);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && store->getParentOp() == function &&
         attrs::output.isOn(function, argument.getArgNumber()) &&
         !attrs::strides.isOn(function, argument.getArgNumber()) &&
         llvm::all_of(ref.getUsers(),
                      [&](Operation *user) { return user == store || isa<DimOp>(user); });
}

/// Whether this is the length of an axis of storage.
static bool isLengthOf(Value length, Value ref, size_t axis) {
  auto asked = length.getDefiningOp<DimOp>();
  return (asked && asked.getSource() == ref && asked.getAxis() == axis) ||
         length == knownLength(ref, static_cast<unsigned>(axis));
}

/// Whether a store fills all of its storage, and with a value of the same shape.
static bool fillsAll(StoreOp store) {
  llvm::ArrayRef<Extent> box = extentsOf(store.getRef().getType());
  if (store.getIndex() || store.getAtomic() || !store.getDropped().empty() ||
      !store.getSteps().empty() || extentsOf(store.getValue().getType()) != box)
    return false;
  for (auto [axis, extent] : llvm::enumerate(box)) {
    Value length = store.getLengths()[axis];
    bool isWhole = extent.isConstant() ? getConstantIntValue(length) == extent.length
                                       : isLengthOf(length, store.getRef(), axis);
    if (!isWhole || getConstantIntValue(store.getOffsets()[axis]) != 0)
      return false;
  }
  return true;
}

bool mayViewOutput(StoreOp store) {
  return isPlainOutput(store.getRef(), store) && fillsAll(store);
}

/// Brings what computes a length to the front of its block, where storage that is made there can be
/// a view of that length. False: it depends on more than arguments.
static bool bringToFront(Value length, Operation *&front) {
  Operation *made = length.getDefiningOp();
  if (!made || made->isBeforeInBlock(front))
    return true;
  // What stands first stays there, and the views follow it.
  if (made == front) {
    front = made->getNextNode();
    return true;
  }
  bool isScalar = isPure(made) && made->getNumRegions() == 0 && made->getNumResults() == 1 &&
                  made->getBlock() == front->getBlock() && length.getType().isIntOrIndex();
  if (!isScalar ||
      !llvm::all_of(made->getOperands(), [&](Value each) { return bringToFront(each, front); }))
    return false;
  made->moveBefore(front);
  return true;
}

/// Whether arithmetic makes the elements of a value.
static bool isArithmetic(Value value) {
  Operation *made = value.getDefiningOp();
  return made && isTiled(made);
}

void viewOutputs(func::FuncOp function, bool onlyComputed) {
  llvm::SmallVector<StoreOp> stores(function.getBody().front().getOps<StoreOp>());
  // Storage that is filled before and copied to a view is replaced by it if the view is there first. All
  // views stand in front of this operation, in the order of their outputs.
  Operation *front = &function.getBody().front().front();
  auto erase = [&](Operation *op) {
    if (op == front)
      front = op->getNextNode();
    op->erase();
  };
  for (StoreOp store : stores) {
    auto shaped = store.getValue().getDefiningOp<ReshapeOp>();
    if (!shaped || !mayViewOutput(store) || shaped->getBlock() != store->getBlock() ||
        rankOf(shaped->getOperand(0).getType()) == 0 ||
        (onlyComputed && !isArithmetic(shaped->getOperand(0))) ||
        llvm::any_of(shaped->getUsers(),
                     [&](Operation *user) { return user != store && !isa<DimOp>(user); }))
      continue;
    Value computed = shaped->getOperand(0);
    llvm::ArrayRef<Extent> extents = extentsOf(computed.getType());
    OpBuilder b(store);
    llvm::SmallVector<Value> named;
    for (auto [axis, extent] : llvm::enumerate(extents))
      if (!extent.isConstant())
        named.push_back(lengthOf(b, computed, static_cast<int64_t>(axis)));
    if (llvm::all_of(named, [&](Value length) { return bringToFront(length, front); }))
      b.setInsertionPoint(front);
    auto type = RefType::get(b.getContext(), elementTypeOf(computed.getType()), extents, Place::Gm);
    Value view = b.create<ViewOp>(store.getLoc(), type, store.getRef(), named);
    b.setInsertionPoint(store);
    storeWhole(b, store.getLoc(), computed, view);
    erase(store);
    if (shaped->use_empty())
      erase(shaped);
  }
}

/// Replaces each view that is left by storage of its own, which is stored to the output in the output's shape at the end of the block.
void storeViews(func::FuncOp function) {
  llvm::SmallVector<ViewOp> views;
  function.walk([&](ViewOp view) { views.push_back(view); });
  for (ViewOp view : views) {
    OpBuilder b(view);
    Location loc = view.getLoc();
    RefType type = view.getType(), target = view.getRef().getType();
    auto valueOf = [&](RefType of) { return arrayTypeOf(of.getElementType(), of.getExtents()); };
    Value ref = view.getRef(), own = b.create<AllocOp>(loc, type, view.getLengths());
    view.replaceAllUsesWith(own);
    view.erase();
    b.setInsertionPoint(own.getParentBlock()->getTerminator());
    OperationState state(loc, ReshapeOp::getOperationName());
    state.addOperands(loadWhole(b, loc, own, valueOf(type)));
    for (auto [axis, extent] : llvm::enumerate(target.getExtents()))
      if (!extent.isConstant())
        state.addOperands(lengthOf(b, ref, static_cast<int64_t>(axis)));
    state.addTypes(valueOf(target));
    storeWhole(b, loc, b.create(state)->getResult(0), ref);
  }
}

} // namespace ptl::ir
