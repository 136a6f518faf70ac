#include "passes/lower_block/cube_scalars.h"

#include "passes/lower_block/tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

namespace {
class Needs {
public:
  Needs(ParallelOp grid, const CoreAssignment &cores) : grid_(grid), cores_(cores) {}
  CubeNeeds run();

private:
  bool concerns(Operation *op) const;
  void enter(Operation *op);
  void seed(Operation *op);
  void seedControl(Operation *op);
  void want(ValueRange values) {
    for (Value value : values)
      if (isScalar(value) && needs_.scalars.insert(value).second)
        open_.push_back(value);
  }
  void follow(Value value);
  bool isIndependent(Value value);
  static bool isScalar(Value value) { return !isArrayLike(value.getType()); }

  ParallelOp grid_;
  const CoreAssignment &cores_;
  CubeNeeds needs_;
  llvm::SmallVector<Value> open_;
  llvm::SmallVector<Operation *> entered_;
  llvm::DenseMap<Value, bool> independent_;
};
} // namespace

/// Whether no array of the vector cores takes part in a scalar.
bool Needs::isIndependent(Value value) {
  if (auto known = independent_.find(value); known != independent_.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  // What a loop carries may come from anywhere; only its counter is known to be independent.
  if (!op)
    return !isa<scf::ForOp, scf::WhileOp>(value.getParentBlock()->getParentOp()) ||
           value.getType().isIndex();
  if (op->getNumRegions())
    return false;
  // A cycle does not end here, so it counts as dependent while it is being looked at.
  independent_[value] = false;
  bool isRead = isa<SliceOp, LoadOp>(op) && isGlobal(op->getOperand(0));
  bool is = llvm::all_of(op->getOperands(), [&](Value operand) {
    return isScalar(operand) ? isIndependent(operand) : isRead;
  });
  return independent_[value] = is;
}

/// Whether the cube core has something to do where this stands.
bool Needs::concerns(Operation *op) const {
  auto crosses = [&](Value value) {
    return cores_.crossesToCube(value) || llvm::is_contained(cores_.toVector, value);
  };
  // The cube core takes part in what crosses, even where the vector cores make it.
  if (cores_.cube.contains(op) || cores_.meetings.contains(op) ||
      llvm::any_of(op->getResults(), crosses))
    return true;
  return llvm::any_of(op->getRegions(), [&](Region &region) {
    return !region.empty() && llvm::any_of(region.getArguments(), crosses);
  });
}

/// Goes into a loop, a branch or a grid, and so into those around it.
void Needs::enter(Operation *op) {
  // If one is known, those around it are known as well.
  for (; op && op != grid_ && needs_.control.insert(op).second; op = op->getParentOp())
    entered_.push_back(op);
}

/// Adds the scalars that decide which way a loop or a branch goes.
void Needs::seedControl(Operation *op) {
  if (isa<scf::WhileOp>(op)) {
    want(op->getOperands());
    // The condition of a `while` is computed by both cores, or one would leave the loop alone.
    for (Region &region : op->getRegions())
      want(region.front().getTerminator()->getOperands());
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    want({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    want(branch.getCondition());
  } else if (isa<ParallelOp>(op) && op != grid_) {
    want(op->getOperands());
  }
}

/// Adds the lengths and positions that an operation uses.
void Needs::seed(Operation *op) {
  auto indices = [&](ValueRange values) {
    for (Value value : values)
      if (value.getType().isIndex())
        want(value);
  };
  if (auto check = dyn_cast<CheckOp>(op)) {
    // A check on data of the vector cores is theirs; checks that both can do are done by both, so
    // that both stop.
    if (llvm::all_of(check->getOperands(), [&](Value v) { return isIndependent(v); }))
      want(check->getOperands());
  } else if (isa<SliceOp, LoadOp, StoreOp>(op)) {
    bool loads = !isa<StoreOp>(op);
    if (loads && isScalar(op->getResult(0)))
      return;
    BoxOperands box = operandsOf(op);
    // Lengths of tiles are needed for the buffers of either core.
    indices(box.lengths);
    if (loads ? isUsedOnCube(op->getResult(0), cores_) : cores_.coreOf(op) == CoreKind::Cube)
      want(op->getOperands());
  } else if (llvm::any_of(op->getResults(),
                          [](Value result) { return isa<ArrayType>(result.getType()); })) {
    indices(op->getOperands());
  }
}

/// Adds the operands of a needed scalar.
void Needs::follow(Value value) {
  auto carried = [&](Operation *loop, unsigned index) {
    if (auto counted = dyn_cast<scf::ForOp>(loop)) {
      // What a loop carries needs its value before the loop, within it and for the next round.
      want(counted.getRegionIterArg(index));
      want(counted.getInitArgs()[index]);
      want(counted.getBody()->getTerminator()->getOperand(index));
    }
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument.getArgNumber() > 0)
      carried(loop, argument.getArgNumber() - 1);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (op->getNumRegions())
    enter(op);
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region &arm : branch->getRegions())
      if (!arm.empty())
        want(arm.front().getTerminator()->getOperand(number));
  } else if (isa<scf::ForOp>(op)) {
    carried(op, number);
  } else {
    want(op->getOperands());
  }
}

CubeNeeds Needs::run() {
  grid_.walk([&](Operation *op) {
    if (op != grid_ && concerns(op))
      enter(op->getNumRegions() ? op : op->getParentOp());
  });
  // The body of the grid itself is always entered.
  entered_.push_back(grid_);
  while (!entered_.empty() || !open_.empty()) {
    // Scalars may enter further control, and control may want further scalars, until nothing is
    // new.
    if (!open_.empty()) {
      follow(open_.pop_back_val());
      continue;
    }
    Operation *control = entered_.pop_back_val();
    seedControl(control);
    for (Region &region : control->getRegions())
      for (Operation &op : region.getOps())
        if (op.getNumRegions() == 0)
          seed(&op);
  }
  return std::move(needs_);
}

CubeNeeds needsOfCube(ParallelOp grid, const CoreAssignment &cores) {
  return Needs(grid, cores).run();
}

bool isNumberOfTiles(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  if (!op || op->getNumRegions() || isa<DimOp>(op) || isArrayLike(scalar.getType()))
    return false;
  bool isRead = isa<SliceOp, LoadOp>(op) && isGlobal(op->getOperand(0));
  return !isRead && llvm::any_of(op->getOperands(),
                                 [](Value operand) { return isArrayLike(operand.getType()); });
}

} // namespace ptl::block
