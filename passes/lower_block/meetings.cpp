#include "passes/lower_block/meetings.h"
#include "ir/dialect/attributes.h"

#include "passes/analysis/core_dependence.h"
#include "passes/lower_block/tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

namespace {

class Accesses {
public:
  explicit Accesses(const CoreAssignment &cores) : cores_(cores) {}

  llvm::SmallVector<GlobalAccess, 2> operator()(Operation *op) const {
    llvm::SmallVector<GlobalAccess, 2> accesses;
    if (auto store = dyn_cast<StoreOp>(op)) {
      GlobalAccess access = ofBox(op, store.getValue().getType(), Doer::FirstVector);
      if (cores_.coreOf(op) == CoreKind::Cube)
        access.doer = Doer::Cube;
      access.writes = true;
      // Atomic additions may happen in any order.
      access.commutes = store.getAtomic().has_value();
      accesses.push_back(access);
    } else if (isa<SliceOp, LoadOp>(op)) {
      // A box that is only taken from is read where it is taken from.
      if (isGlobal(op->getOperand(0)) && !isTakenFrom(op->getResult(0), cores_))
        addLoad(op, accesses);
    } else if (!isa<DimOp>(op)) {
      for (Value operand : op->getOperands())
        if (Value array = arrayBehind(operand))
          accesses.push_back({op, array, Doer::EveryVector});
    }
    return accesses;
  }

private:
  /// The array of a box that its user reads by position.
  Value arrayBehind(Value operand) const {
    if (!isArrayLike(operand.getType()))
      return {};
    if (isGlobal(operand))
      return operand;
    Operation *made = operand.getDefiningOp();
    bool isBox = made && isa<SliceOp, LoadOp>(made) && isGlobal(made->getOperand(0)) &&
                 isTakenFrom(operand, cores_);
    return isBox ? made->getOperand(0) : Value();
  }

  void addLoad(Operation *op, llvm::SmallVectorImpl<GlobalAccess> &accesses) const {
    Value result = op->getResult(0);
    bool isScalar = !isa<ArrayType>(result.getType());
    // Either kind of core may need the scalar, so both are taken to read it.
    if (isScalar || isUsedOnCube(result, cores_))
      accesses.push_back({op, op->getOperand(0), Doer::Cube});
    if (isScalar || isUsedOnVector(result, cores_))
      accesses.push_back(ofBox(op, result.getType(), Doer::EveryVector));
  }

  /// `whole`: who does it unless an axis is dealt out.
  GlobalAccess ofBox(Operation *op, Type type, Doer whole) const {
    BoxOperands in = operandsOf(op);
    GlobalAccess access{op, in.array, whole};
    llvm::ArrayRef<Extent> extents = ir::extentsOf(type);
    llvm::SmallVector<int64_t> kept;
    for (size_t axis = 0; axis < in.offsets.size(); ++axis)
      if (!llvm::is_contained(in.dropped, static_cast<int64_t>(axis)))
        kept.push_back(static_cast<int64_t>(axis));
    size_t lead = kept.size() - std::min(kept.size(), extents.size());
    // The value's axes are the last ones of the box.
    for (size_t i = lead; i < kept.size(); ++i) {
      StringAttr name = extents[i - lead].symbol;
      if (!cores_.deals(name))
        continue;
      bool isIndexed = isa<StoreOp>(op) && cast<StoreOp>(op).getIndex();
      access.doer = Doer::VectorInParts;
      access.partsAxis = kept[i];
      access.partsName = name;
      // With steps or an index the parts of the two cores may lie anywhere.
      if (!isIndexed && in.steps.empty())
        access.partsFrom = getAsOpFoldResult(in.offsets[static_cast<size_t>(kept[i])]);
    }
    return access;
  }

  const CoreAssignment &cores_;
};

/// Whether the value of an operation is computed from `load` by a product: then that has been read
/// when the value is there. Branches may have computed it without.
class ProductOf {
public:
  explicit ProductOf(Operation *load) : load_(load) {}

  bool feeds(Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value v) { return comesFrom(v, false); });
  }

private:
  bool comesFrom(Value value, bool multiplied) {
    // Loops lead back to values that have been seen.
    if (!seen_.insert({value, multiplied}).second)
      return false;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      return loop && argument.getArgNumber() > 0 &&
             comesFromRound(loop, argument.getArgNumber() - 1, multiplied);
    }
    Operation *op = value.getDefiningOp();
    if (op == load_)
      return multiplied;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return comesFromRound(loop, cast<OpResult>(value).getResultNumber(), multiplied);
    // A branch may have given the value without the product.
    if (op->getNumRegions())
      return false;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return comesFrom(operand, multiplied || isa<MatmulOp>(op));
    });
  }
  bool comesFromRound(scf::ForOp loop, unsigned number, bool multiplied) {
    return comesFrom(loop.getInitArgs()[number], multiplied) ||
           comesFrom(loop.getBody()->getTerminator()->getOperand(number), multiplied);
  }

  Operation *load_;
  llvm::DenseSet<std::pair<Value, unsigned>> seen_;
};

} // namespace

void findMeetings(ParallelOp grid, CoreAssignment &cores) {
  if (!cores.isMixed())
    return;
  Accesses accesses(cores);
  // Parts of one store at a point, which lie beside each other.
  auto areParts = [&](const GlobalAccess &a, const GlobalAccess &b) {
    auto first = attrs::part.of(a.op), second = attrs::part.of(b.op);
    auto store = dyn_cast<StoreOp>(a.op);
    return store && !store.getIndex() && a.op->getParentOp() == grid && isa<StoreOp>(b.op) &&
           b.op->getParentOp() == grid && a.doer == Doer::VectorInParts && b.doer == a.doer &&
           a.partsAxis == b.partsAxis && first && second && first[0] == second[0] &&
           first[1] != second[1];
  };
  auto isOver = [&](const GlobalAccess &before, const GlobalAccess &after) {
    return areParts(before, after) ||
           (before.doer == Doer::Cube && !before.writes && after.doer != Doer::Cube &&
            ProductOf(before.op).feeds(after.op));
  };
  for (Operation *op : ir::findMeetings(grid.getBody().front(), accesses, isOver))
    cores.meetings.insert(op);
  if (cores.meetings.empty())
    return;
  llvm::SetVector<Value> written;
  grid.walk([&](StoreOp store) { written.insert(store.getRef()); });
  cores.metOver = written.takeVector();
}

bool meetsInside(Operation *op, const CoreAssignment &cores) {
  return !cores.meetings.empty() && op->walk([&](Operation *inner) {
                                        return cores.meetings.contains(inner)
                                                   ? WalkResult::interrupt()
                                                   : WalkResult::advance();
                                      }).wasInterrupted();
}

} // namespace ptl::block
