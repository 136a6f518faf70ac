// Atomic maxima and minima on chips, whose stores only add: what is there is loaded, combined and
// stored, by one core group that does all points one after the other.

#include "passes/transform/expand/serial_atomics.h"

#include "ir/dialect/make_op.h"
#include "ir/dialect/op_facts.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/transform/make_grid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::ir {

/// A box of the value's own shape, or one that its value is spread over.
static bool isPlainBox(StoreOp store) {
  // A value with more axes than the box would have to be cut first.
  size_t kept = store.getOffsets().size() - store.getDropped().size();
  return !store.getIndex() && extentsOf(store.getValue().getType()).size() <= kept;
}

/// The extents of the box, where the value has as many axes: its own, and those that it is spread
/// along. `number`: of the store, for names.
static llvm::SmallVector<Extent> boxOf(StoreOp store, size_t number, llvm::ArrayRef<Extent> own) {
  llvm::SmallVector<Extent> box;
  for (auto [axis, length] : llvm::enumerate(store.getLengths())) {
    if (llvm::is_contained(store.getDropped(), static_cast<int64_t>(axis)))
      continue;
    size_t at = box.size();
    IntegerAttr known;
    // The value's own extent if it has several positions, else the length of the box.
    if (at < own.size() && !own[at].isOne())
      box.push_back(own[at]);
    else if (matchPattern(length, m_Constant(&known)))
      box.push_back(Extent::constant(known.getInt()));
    else
      box.push_back(
          Extent::named(StringAttr::get(store.getContext(), "box." + std::to_string(number))));
  }
  return box;
}

/// What is there, combined with the value, instead of the value. That has all axes of the box, or
/// none.
static void serialise(StoreOp store, size_t number) {
  OpBuilder b(store);
  Location loc = store.getLoc();
  Value value = store.getValue();
  llvm::SmallVector<Extent> own(extentsOf(value.getType()));
  Type element = elementTypeOf(value.getType());
  size_t kept = store.getOffsets().size() - store.getDropped().size();
  // The operation needs operands of one rank.
  if (isa<ArrayType>(value.getType()) && own.size() < kept) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(kept - own.size())));
    own.insert(own.begin(), axes.size(), Extent::constant(1));
    value = b.create<NewAxisOp>(loc, arrayTypeOf(element, own), value, axes);
  }
  Type type = kept == 0 ? element : arrayTypeOf(element, boxOf(store, number, own));
  // Loading and storing is only atomic because nobody else runs meanwhile.
  Value old =
      b.create<LoadOp>(loc, type, store.getRef(), store.getOffsets(), store.getLengths(),
                       store.getSteps(), Value(), b.getDenseI64ArrayAttr(store.getDropped()));
  store.getValueMutable().assign(
      makeOp(b, loc, operationName(*combinerNamed(*store.getAtomic())), type, {old, value}));
  store.removeAtomicAttr();
}

/// The points of `grid` in loops at `b`, in the order of the grid, which goes.
static void makeLoops(OpBuilder &b, ParallelOp grid) {
  Location loc = grid.getLoc();
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

/// A grid of one point, whose core group does the points of `grid` in loops.
static void makeSerial(ParallelOp grid) {
  OpBuilder b(grid);
  Location loc = grid.getLoc();
  // All points are done by one core group, in the order of the grid.
  Value one = b.create<arith::ConstantIndexOp>(loc, 1);
  openGrid(b, loc, one, one, NameLoc::get(b.getStringAttr("_once"), loc));
  b.setInsertionPoint(b.create<YieldOp>(loc));
  makeLoops(b, grid);
}

void serialiseAtomics(func::FuncOp function) {
  llvm::SmallVector<StoreOp> stores;
  function.walk([&](StoreOp store) {
    auto how = store.getAtomic();
    // Sums are atomic on chips; a store outside of grids has no competitor.
    if (how && *how != "add" && store->getParentOfType<ParallelOp>() && isPlainBox(store))
      stores.push_back(store);
  });
  llvm::SetVector<Operation *> grids, nested;
  for (auto [number, store] : llvm::enumerate(stores)) {
    serialise(store, number);
    ParallelOp grid = store->getParentOfType<ParallelOp>();
    // Nested grids belong to the outermost one, and write the same elements as it does.
    while (auto outer = grid->getParentOfType<ParallelOp>()) {
      nested.insert(grid);
      grid = outer;
    }
    grids.insert(grid);
  }
  for (Operation *grid : nested) {
    OpBuilder b(grid);
    makeLoops(b, cast<ParallelOp>(grid));
  }
  for (Operation *grid : grids)
    makeSerial(cast<ParallelOp>(grid));
}

} // namespace ptl::ir
