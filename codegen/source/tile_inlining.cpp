#include "codegen/source/tile_inlining.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_folds.h"
#include "codegen/source/tile_kernels.h"
#include "codegen/source/tile_literals.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::source {

constexpr unsigned kMaxWeight = 8; ///< operations in one expression

/// Whether what a load reads is the same where its value is used.
static bool isSafeAt(Operation *op, Operation *use) {
  auto load = dyn_cast<ir::LoadOp>(op);
  // Loads and checks in between do not change what is read, nor do grids that store elsewhere.
  auto leaves = [&](Operation *between) {
    return isMemoryEffectFree(between) || isa<ir::LoadOp, ir::CheckOp, ir::AllocOp>(between) ||
           (load && isa<ir::ParallelOp, scf::IfOp>(between) && !writes(between, load.getRef()));
  };
  for (Operation *at = op->getNextNode(); at && at != use; at = at->getNextNode())
    if (!leaves(at))
      return false;
  return true;
}

static unsigned weightInside(BodyCode &code, Operation *op) {
  if (auto found = code.inlining().weights.find(op); found != code.inlining().weights.end())
    return found->second;
  // Views add nothing to what a reader must take in.
  unsigned sum = isa<ir::SliceOp>(op) || isTransparent(op) ? 0 : 1;
  for (Value operand : op->getOperands())
    if (Operation *inner = operand.getDefiningOp(); inner && inner->getBlock() == op->getBlock())
      if (!isPositionOp(inner) && !isConstantLike(inner) && isInlined(code, inner))
        sum += weightInside(code, inner);
  return code.inlining().weights[op] = sum;
}

/// The operations that use a value, also under another description.
static void collectUses(Value value, llvm::SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses())
    // A cast or conversion without effect passes its operand on.
    if (isTransparent(use.getOwner()))
      collectUses(use.getOwner()->getResult(0), uses);
    else
      uses.push_back(&use);
}

/// Whether an operation is there for checks that are made again.
static bool isForChecks(Operation *op) {
  if (auto check = dyn_cast<ir::CheckOp>(op))
    return isMadeAgain(check);
  return isPositionOp(op) && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isForChecks(user); });
}

/// Whether a value is what a variable of a loop by that name begins with.
static bool beginsVariable(OpOperand &use, size_t uses, const std::string &name) {
  auto loop = dyn_cast<scf::ForOp>(use.getOwner());
  BlockArgument variable = loop ? loop.getTiedLoopRegionIterArg(&use) : BlockArgument();
  // The value must have no other use, or that would see the variable change.
  return uses == 1 && variable && block::nameOf(variable.getLoc()) == name;
}

static bool decideInlined(BodyCode &code, Operation *op) {
  llvm::SmallVector<OpOperand *> uses;
  collectUses(op->getResult(0), uses);
  bool isUsed = !uses.empty();
  llvm::erase_if(uses, [](OpOperand *use) { // lengths have names of their own
    return isForChecks(use->getOwner()) || isa<ir::DimOp>(use->getOwner());
  });
  // A value that only checks use is not written at all.
  if (isUsed && uses.empty())
    return true;
  // `a and b` computes `b` only where it matters: what is computed anyway stands before.
  bool isJoined = llvm::any_of(
      uses, [](OpOperand *use) { return isa<arith::AndIOp, arith::OrIOp>(use->getOwner()); });
  // A pinned value gets a statement with its place.
  if (uses.empty() || isa<ir::CastOp>(op) || isJoined)
    return false;
  // A value that is staged for products gets its place written.
  bool isPinned =
      llvm::all_of(uses, [](OpOperand *use) { return isa<ir::CastOp>(use->getOwner()); });
  if (isa<ir::SliceOp, ir::LoadOp>(op) && !isPinned &&
      code.kind().placeOf(op->getResult(0)) == "mat")
    return false;
  // A value that is stored under its own name needs no other one.
  std::string name = block::nameOf(op->getLoc());
  auto store = dyn_cast<ir::StoreOp>(uses.front()->getOwner());
  bool isStored = store && uses.size() == 1 && block::nameOf(store.getRef().getLoc()) == name;
  // An author's name is kept, unless the place where the value goes has it.
  if (!name.empty() && !isStored && !beginsVariable(*uses.front(), uses.size(), name))
    return false;
  // All uses may be inside of one grid, which gets the value as an argument.
  Operation *use = nullptr;
  // The text moves to its one use, which must stand in the same block.
  for (OpOperand *each : uses) {
    Operation *user = each->getOwner(), *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (!here || (use && here != use) || (here != user && !isa<ir::ParallelOp>(here)))
      return false;
    use = here;
  }
  // Several uses in one grid share the argument; elsewhere the computation would be repeated.
  if (uses.size() > 1 && !isa<ir::ParallelOp>(use))
    return false;
  // A load of memory that changes later must not move behind the change.
  bool reads = isa<ir::LoadOp>(op) ? !code.kind().readsFinal(op) : code.kind().readsChanged(op);
  if (reads ? !isSafeAt(op, use) : !isa<ir::LoadOp>(op) && !isMemoryEffectFree(op))
    return false;
  // The use may move on as well, so the load must be safe at the place where it ends up.
  if (reads && use->getNumResults() == 1 && isInlined(code, use))
    return isMemoryEffectFree(use) && use->hasOneUse() &&
           isSafeAt(op, op->getBlock()->findAncestorOpInBlock(**use->getUsers().begin()));
  // A long expression is cut into statements.
  return (isPinned && uses.size() == 1) || weightInside(code, op) < kMaxWeight;
}

bool isInlined(BodyCode &code, Operation *op) {
  if (std::optional<bool> own = code.kind().isInlined(op))
    return *own;
  if (needsTypedName(op))
    return false;
  if (isPositionOp(op) || isConstantLike(op) || isCheap(op) || isTransparent(op))
    return true;
  // Results of these are statements of the language.
  if (op->getNumResults() != 1 || isa<scf::ForOp, scf::WhileOp, scf::IfOp, ir::InsertOp>(op) ||
      givesTuple(op) || code.inlining().named.count(op))
    return false;
  if (auto found = code.inlining().decided.find(op); found != code.inlining().decided.end())
    return found->second;
  // A load asks about what uses it, which asks about its operands.
  code.inlining().decided[op] = false;
  // The preliminary answer ends the recursion.
  bool isInlined = decideInlined(code, op);
  return code.inlining().decided[op] = isInlined;
}

} // namespace ptl::source
