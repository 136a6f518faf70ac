#include "codegen/cpu/in_place.h"

#include "codegen/cpu/lower_elementwise.h"
#include "passes/analysis/op_kinds.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::cpu {

// --- views ---------------------------------------------------------------------------------------

Value memoryOf(Value pointer) {
  while (auto step = pointer.getDefiningOp<LLVM::GEPOp>())
    pointer = step.getBase();
  return pointer;
}

// How many operations back two computations are compared. The address of a box takes a product and
// a sum per axis.
static constexpr int kLongestComparison = 8;

// Whether two values are computed in the same way: the box of a tile is emitted again for the read
// and for the write.
static bool sameNumber(Value a, Value b, int depth = kLongestComparison) {
  // Constants are emitted again at each use, so equal numbers may be different values.
  if (a == b || (constantOf(a) && constantOf(a) == constantOf(b)))
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  // An operation that reads memory may give another number each time.
  if (!x || !y || depth == 0 || x->getNumResults() != 1 || !isPure(x) || !isPure(y))
    return false;
  return OperationEquivalence::isEquivalentTo(
      x, y, [&](Value one, Value other) { return success(sameNumber(one, other, depth - 1)); },
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

bool sameView(const View &a, const View &b) {
  auto same = [](auto pair) { return sameNumber(std::get<0>(pair), std::get<1>(pair)); };
  return a.rank() == b.rank() && sameNumber(a.data, b.data) &&
         llvm::all_of(llvm::zip(a.extents, b.extents), same) &&
         llvm::all_of(llvm::zip(a.strides, b.strides), same);
}

bool staysInPlace(Operation *op, Value operand) {
  auto from = dyn_cast<ir::ArrayType>(operand.getType());
  auto to = op->getNumResults() == 1 ? arrayType(op->getResult(0)) : ir::ArrayType();
  if (!from || !to || !(isElementwise(op) || isa<ir::CastOp>(op)))
    return false;
  return from.getRank() == to.getRank() &&
         llvm::all_of(llvm::zip(from.getExtents(), to.getExtents()), [](auto extents) {
           auto [x, y] = extents;
           return !x.isOne() || y.isOne();
         });
}

// --- storage of rounds ---------------------------------------------------------------------------

// Whether it loads the whole storage in its own order.
static bool isWhole(ir::LoadOp load) {
  auto stored = cast<ir::RefType>(load.getRef().getType());
  auto loaded = dyn_cast<ir::ArrayType>(load.getResult().getType());
  return loaded && !load.getOutside() && load.getDropped().empty() && load.getSteps().empty() &&
         loaded.getExtents() == stored.getExtents() &&
         llvm::all_of(load.getOffsets(),
                      [](Value offset) { return getConstantIntValue(offset) == 0; });
}

// Whether the slice has exactly the elements that the store writes, and each is used only for the
// element in its own place.
static bool isOwnBox(ir::SliceOp slice, ir::StoreOp store) {
  if (!slice || slice->getBlock() != store->getBlock() || slice.getOutside() ||
      !slice.getSteps().empty() || slice.getDropped() != store.getDropped() ||
      slice.getOffsets() != store.getOffsets() || slice.getLengths() != store.getLengths())
    return false;
  SmallVector<Value> values = {slice.getResult()};
  llvm::DenseSet<Value> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (isa<ir::DimOp>(user) || (user == store && store.getValue() == value))
        continue;
      // A value that is needed again behind the store would find the new elements.
      if (user->getBlock() != store->getBlock() || !staysInPlace(user, value))
        return false;
      values.push_back(user->getResult(0));
    }
  }
  return true;
}

// Whether everything that an operation computes from its operands is computed before the grid: by
// other grids, or as scalars.
static bool isOverBefore(Operation *op, ir::ParallelOp grid) {
  Operation *inBlock = grid->getBlock()->findAncestorOpInBlock(*op);
  if (!inBlock || !inBlock->isBeforeInBlock(grid))
    return false;
  // An operation inside another grid is done when that grid is.
  auto around = op->getParentOfType<ir::ParallelOp>();
  if ((around && inBlock->isAncestor(around)) || isa<ir::DimOp, ir::StoreOp>(op))
    return true;
  bool isScalar =
      llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
  if (isScalar)
    return op->getNumResults() != 0 && op->getNumRegions() == 0;
  // A view is read where it is used; other arrays may be computed later.
  return isa<ir::SliceOp, ir::NewAxisOp, ir::TransposeOp>(op) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) { return isOverBefore(user, grid); });
}

// The only store to the storage if the load is its only other user; else null.
static ir::StoreOp onlyStore(ir::AllocOp alloc, ir::LoadOp load) {
  ir::StoreOp only;
  for (Operation *user : alloc->getUsers()) {
    if (user == load || isa<ir::DimOp>(user))
      continue;
    auto store = dyn_cast<ir::StoreOp>(user);
    if (!store || only || store.getRef() != alloc.getResult())
      return {};
    only = store;
  }
  return only;
}

ir::AllocOp storageInPlace(BlockArgument carried, Value next) {
  // A cast only describes the array differently.
  auto cast = next.getDefiningOp<ir::CastOp>();
  Value loaded = cast ? cast.getSource() : next;
  auto load = loaded.getDefiningOp<ir::LoadOp>();
  auto alloc = load ? load.getRef().getDefiningOp<ir::AllocOp>() : ir::AllocOp();
  auto type = arrayType(carried);
  Block *body = carried.getOwner();
  if (!alloc || !type || alloc->getBlock() != body || load->getBlock() != body || !isWhole(load) ||
      ir::onlyUser(next) != body->getTerminator() || (cast && ir::onlyUser(loaded) != cast) ||
      type.getElementType() != alloc.getResult().getType().getElementType() ||
      type.getExtents() != alloc.getResult().getType().getExtents())
    return {};
  // One grid must write the storage, and nothing else: otherwise elements could be read after they
  // were overwritten.
  ir::StoreOp store = onlyStore(alloc, load);
  auto grid = store ? dyn_cast<ir::ParallelOp>(store->getParentOp()) : ir::ParallelOp();
  if (!grid || grid->getBlock() != body || !grid->isBeforeInBlock(load) || store.getAtomic() ||
      store.getIndex() || !store.getSteps().empty())
    return {};
  // Each point may read only the box that it writes itself; otherwise it would see what another
  // point has already written. What is read before the grid is not affected.
  bool readsOwnBoxes = llvm::all_of(carried.getUsers(), [&](Operation *user) {
    return isa<ir::DimOp>(user) || isOwnBox(dyn_cast<ir::SliceOp>(user), store) ||
           isOverBefore(user, grid);
  });
  return readsOwnBoxes ? alloc : ir::AllocOp();
}

bool continuesCarried(scf::ForOp loop, unsigned number) {
  auto carried = dyn_cast<BlockArgument>(loop.getInitArgs()[number]);
  auto around = carried ? dyn_cast<scf::ForOp>(carried.getOwner()->getParentOp()) : scf::ForOp();
  if (!around || !arrayType(carried) || loop->getParentOp() != around ||
      carried == around.getInductionVar() || ir::onlyUser(carried) != loop)
    return false;
  Value result = loop.getResult(number);
  Operation *yield = around.getBody()->getTerminator();
  // The loop may take a value twice, and the loop around it may yield one twice.
  return llvm::count(loop.getInitArgs(), carried) == 1 && ir::onlyUser(result) == yield &&
         llvm::count(yield->getOperands(), result) == 1 &&
         yield->getOperand(carried.getArgNumber() - around.getNumInductionVars()) == result;
}

} // namespace ptl::cpu
