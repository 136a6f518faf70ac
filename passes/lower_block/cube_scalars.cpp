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
  explicit Needs(const CoreAssignment &cores) : cores_(cores) {}
  llvm::DenseSet<Value> run(ParallelOp grid);

private:
  void seed(Operation *op);
  void want(ValueRange values) {
    for (Value value : values)
      if (isScalar(value) && needed_.insert(value).second)
        open_.push_back(value);
  }
  void follow(Value value);
  bool isIndependent(Value value);
  static bool isScalar(Value value) { return !isa<ArrayType, RefType>(value.getType()); }

  const CoreAssignment &cores_;
  llvm::DenseSet<Value> needed_;
  llvm::SmallVector<Value> open_;
  llvm::DenseMap<Value, bool> independent_;
};
} // namespace

/// Whether no array of the vector cores takes part in a scalar.
bool Needs::isIndependent(Value value) {
  if (auto known = independent_.find(value); known != independent_.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  if (!op)
    return !isa<scf::ForOp, scf::WhileOp>(value.getParentBlock()->getParentOp()) ||
           value.getType().isIndex();
  if (op->getNumRegions())
    return false;
  independent_[value] = false;
  bool isRead = isa<SliceOp, LoadOp>(op) && isGlobal(op->getOperand(0));
  bool is = llvm::all_of(op->getOperands(), [&](Value operand) {
    return isScalar(operand) ? isIndependent(operand) : isRead;
  });
  return independent_[value] = is;
}

void Needs::seed(Operation *op) {
  auto indices = [&](ValueRange values) {
    for (Value value : values)
      if (value.getType().isIndex())
        want(value);
  };
  if (isa<scf::WhileOp>(op)) {
    want(op->getOperands());
    op->walk([&](Operation *inner) {
      if (inner->hasTrait<OpTrait::IsTerminator>())
        want(inner->getOperands());
    });
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    want({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    want(branch.getCondition());
  } else if (auto check = dyn_cast<CheckOp>(op)) {
    if (llvm::all_of(check->getOperands(), [&](Value v) { return isIndependent(v); }))
      want(check->getOperands());
  } else if (isa<SliceOp, LoadOp, StoreOp>(op)) {
    bool loads = !isa<StoreOp>(op);
    if (loads && isScalar(op->getResult(0)))
      return;
    BoxOperands box = operandsOf(op);
    indices(box.lengths);
    if (loads ? isUsedOnCube(op->getResult(0), cores_) : cores_.coreOf(op) == CoreKind::Cube)
      want(op->getOperands());
  } else if (isa<ParallelOp>(op) || llvm::any_of(op->getResults(), [](Value result) {
               return isa<ArrayType>(result.getType());
             })) {
    indices(op->getOperands());
  }
}

/// What a needed scalar is computed from.
void Needs::follow(Value value) {
  auto carried = [&](Operation *loop, unsigned index) {
    if (auto counted = dyn_cast<scf::ForOp>(loop)) {
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

llvm::DenseSet<Value> Needs::run(ParallelOp grid) {
  grid.walk([&](Operation *op) {
    if (op != grid)
      seed(op);
  });
  while (!open_.empty())
    follow(open_.pop_back_val());
  return std::move(needed_);
}

llvm::DenseSet<Value> scalarsOfCube(ParallelOp grid, const CoreAssignment &cores) {
  return Needs(cores).run(grid);
}

} // namespace ptl::block
