// Atomic maxima and minima on chips, whose stores only add: what is there is loaded, combined and
// stored, by one core group that does all points one after the other.
#include "passes/transform/expand_tensors.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

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

/// A grid of one point, whose core group does the points of `grid` in loops.
static void makeSerial(ParallelOp grid) {
  OpBuilder b(grid);
  Location loc = grid.getLoc();
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0),
        one = b.create<arith::ConstantIndexOp>(loc, 1);
  auto made = b.create<ParallelOp>(loc, ValueRange{zero}, ValueRange{one}, ValueRange{one});
  llvm::SmallVector<Location> names{NameLoc::get(b.getStringAttr("_once"), loc)};
  b.createBlock(&made.getBody(), {}, TypeRange(b.getIndexType()), names);
  b.setInsertionPoint(b.create<YieldOp>(loc));
  Block &points = grid.getBody().front();
  scf::ForOp inner; // the innermost
  for (auto [position, lower, upper, step] :
       llvm::zip(points.getArguments(), grid.getLower(), grid.getUpper(), grid.getSteps())) {
    inner = b.create<scf::ForOp>(loc, lower, upper, step);
    inner.getInductionVar().setLoc(position.getLoc());
    position.replaceAllUsesWith(inner.getInductionVar());
    b.setInsertionPointToStart(inner.getBody());
  }
  for (Operation &op : llvm::make_early_inc_range(points.without_terminator()))
    op.moveBefore(inner.getBody()->getTerminator());
  grid.erase();
}

void serialiseAtomics(func::FuncOp function) {
  llvm::SmallVector<StoreOp> stores;
  function.walk([&](StoreOp store) {
    auto how = store.getAtomic();
    if (how && *how != "add" && store->getParentOfType<ParallelOp>() && isPlainBox(store))
      stores.push_back(store);
  });
  llvm::SetVector<Operation *> grids;
  for (StoreOp store : stores) {
    serialise(store);
    ParallelOp grid = store->getParentOfType<ParallelOp>();
    while (auto outer = grid->getParentOfType<ParallelOp>())
      grid = outer;
    grids.insert(grid);
  }
  for (Operation *grid : grids)
    makeSerial(cast<ParallelOp>(grid));
}

} // namespace ptl::ir
