// Atomic maxima and minima on chips, whose stores only add: what is there is loaded, combined and
// stored, by one core group that does all points one after the other.
#include "passes/transform/expand_tensors.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ptl::ir {

/// A box of the value's own shape, or one element.
static bool isPlainBox(StoreOp store) {
  size_t kept = store.getOffsets().size() - store.getDropped().size();
  return !store.getIndex() && extentsOf(store.getValue().getType()).size() == kept;
}

static void serialise(StoreOp store) {
  OpBuilder b(store);
  Location loc = store.getLoc();
  Type type = store.getValue().getType();
  Value old =
      b.create<LoadOp>(loc, type, store.getRef(), store.getOffsets(), store.getLengths(),
                       store.getSteps(), Value(), b.getDenseI64ArrayAttr(store.getDropped()));
  OperationState state(loc, *store.getAtomic() == "max" ? "ptl.max" : "ptl.min");
  state.addOperands({old, store.getValue()});
  state.addTypes(type);
  store.getValueMutable().assign(b.create(state)->getResult(0));
  store.removeAtomicAttr();
}

void serialiseAtomics(func::FuncOp function) {
  llvm::SmallVector<StoreOp> stores;
  function.walk([&](StoreOp store) {
    auto how = store.getAtomic();
    if (how && *how != "add" && store->getParentOfType<ParallelOp>() && isPlainBox(store))
      stores.push_back(store);
  });
  for (StoreOp store : stores) {
    serialise(store);
    ParallelOp grid = store->getParentOfType<ParallelOp>();
    while (auto outer = grid->getParentOfType<ParallelOp>())
      grid = outer;
    grid->setAttr("ptl.serial", UnitAttr::get(function.getContext()));
  }
}

} // namespace ptl::ir
