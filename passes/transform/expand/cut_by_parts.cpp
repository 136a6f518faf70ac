#include "passes/transform/expand/cut_by_parts.h"

#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/expand/parts_of_root.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/root_storage.h"
#include "passes/transform/sink_into.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

/// Regions of all axes together; more would be much code for little.
static constexpr size_t kMostStores = 32;

namespace {

/// What is computed and the box of storage that it goes to.
struct Target {
  Value value;
  StoreOp store;
};

} // namespace

/// Stores the regions of a cut instead of the whole, where the builder is.
static llvm::SmallVector<Target> storeRegions(OpBuilder &b, Target target, Cut &cut, int64_t axis) {
  StoreOp into = target.store;
  Location loc = into.getLoc();
  size_t base = 0;
  for (int64_t left = axis;; ++base)
    if (!llvm::is_contained(into.getDropped(), static_cast<int64_t>(base)) && left-- == 0)
      break;
  llvm::SmallVector<Target> made;
  for (const Stretch &region : cut.regions(into)) {
    if (region.length.isZero())
      continue;
    llvm::SmallVector<Value> offsets(into.getOffsets()), lengths(into.getLengths());
    Value value = cut.part(region), shift = valueOf(b, loc, region.begin);
    if (!into.getSteps().empty())
      shift = b.createOrFold<arith::MulIOp>(loc, shift, into.getSteps()[base]);
    offsets[base] = b.createOrFold<arith::AddIOp>(loc, offsets[base], shift);
    lengths[base] = valueOf(b, loc, region.length);
    auto store = b.create<StoreOp>(loc, value, into.getRef(), offsets, lengths, into.getSteps(),
                                   Value(), into.getDroppedAttr(), IntegerAttr(), StringAttr());
    made.push_back({value, store});
  }
  return made;
}

/// Cuts what is stored along one axis after the other, where the places are known to lie in the order that `Cut` takes them to have.
static void cutRegions(Target target, llvm::ArrayRef<int64_t> axes) {
  if (axes.empty())
    return;
  OpBuilder b(target.store);
  Cut cut(b, target.value, axes.front());
  // A region of another axis may read one part alone.
  if (!cut.find())
    return cutRegions(target, axes.drop_front());
  llvm::SmallVector<Target> made = storeRegions(b, target, cut, axes.front());
  target.store.erase();
  for (Target each : made)
    cutRegions(each, axes.drop_front());
}

/// Cuts what is stored, along all axes along which parts meet; false, with nothing changed, if there is none.
static bool cutTarget(Target target) {
  StoreOp into = target.store;
  OpBuilder b(into);
  llvm::SmallVector<int64_t> axes;
  llvm::SmallVector<Linear> needed;
  size_t stores = 1;
  for (int64_t axis = 0; axis < rankOf(target.value.getType()); ++axis) {
    Cut cut(b, target.value, axis);
    if (!cut.find() || stores * cut.count() > kMostStores)
      continue;
    stores *= cut.count();
    axes.push_back(axis);
    for (const Linear &number : cut.needed())
      if (!llvm::is_contained(needed, number))
        needed.push_back(number);
  }
  if (axes.empty())
    return false;
  if (Value condition = holds(b, into.getLoc(), needed)) {
    auto branch = b.create<scf::IfOp>(into.getLoc(), condition, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.elseBlock());
    b.clone(*into);
    into->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
    cutRegions(target, axes);
    sinkInto(target.value, branch.elseBlock());
  } else {
    cutRegions(target, axes);
  }
  return true;
}

/// Whether values are computed from this one part by part, so that it is none to begin with.
static bool isInRoot(Operation *op) {
  if (isElementwise(op))
    return isForOne(op);
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return user->getBlock() == op->getBlock() &&
           (isElementwise(user) || isa<ConcatOp, TakeOp, PadOp, SliceOp, CastOp, DimOp>(user));
  });
}

/// Whether a value is computed from parts that meet, which is seen sooner than where.
static bool hasParts(Value value, Value root, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 64)
    return false;
  if (isa<ConcatOp, TakeOp, PadOp>(op))
    return true;
  bool looks = isa<CastOp, SliceOp>(op) || (isElementwise(op) && isFollowed(value, root));
  return looks && llvm::any_of(op->getOperands(),
                               [&](Value operand) { return hasParts(operand, root, depth + 1); });
}

/// What nobody uses any more would be stored for nobody.
static void eraseUnused(func::FuncOp function) {
  llvm::SmallVector<Operation *> all;
  function.walk([&](Operation *op) {
    if (op->getNumRegions() == 0 && isPure(op) && !op->hasTrait<OpTrait::IsTerminator>())
      all.push_back(op);
  });
  for (Operation *op : llvm::reverse(all))
    if (op->use_empty())
      op->erase();
}

void cutByParts(func::FuncOp function) {
  llvm::SmallVector<Operation *> roots;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    bool isRoot = op->getNumResults() == 1 && isa<ArrayType>(op->getResult(0).getType()) &&
                  (isElementwise(op) || isa<TakeOp>(op)) && !isInSchedule(op) && !op->use_empty() &&
                  !isInRoot(op);
    if (isRoot && hasParts(op->getResult(0), op->getResult(0)))
      roots.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *root : roots) {
    Value value = root->getResult(0);
    StoreOp store = onlyStore(value);
    OpBuilder b(root);
    if (store) {
      keepingMarks(store, [&] { cutTarget({value, store}); });
      continue;
    }
    Value ref = storageLike(b, root->getLoc(), value);
    b.setInsertionPointAfter(root);
    store = storeWhole(b, root->getLoc(), value, ref);
    Value load = loadWhole(b, root->getLoc(), ref, value.getType());
    value.replaceAllUsesExcept(load, store);
    bool isCut = false;
    keepingMarks(store, [&] { isCut = cutTarget({value, store}); });
    if (isCut)
      continue;
    load.replaceAllUsesWith(value);
    load.getDefiningOp()->erase();
    store.erase();
    ref.getDefiningOp()->erase();
  }
  if (!roots.empty())
    eraseUnused(function);
}

} // namespace ptl::ir
