#include "codegen/source/tile_order.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_inlining.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::source {

namespace {

/// The operations of a block that are written within others, as they come to be. Of those that are
/// not yet part of a statement, the ones that the next statement takes must be the last ones, in
/// the order in which it takes them; others get a name, and all before them.
class Pending {
public:
  explicit Pending(llvm::DenseSet<Operation *> &named) : named_(named) {}

  void add(Operation *op) { open_.push_back(op); }
  /// Takes the operands that are written in the present operation, from left to right.
  void take(llvm::ArrayRef<Operation *> wanted) {
    llvm::SmallVector<Operation *> left(wanted);
    while (!left.empty()) {
      llvm::erase_if(left, [&](Operation *op) { return !llvm::is_contained(open_, op); });
      size_t count = 0;
      while (count < left.size() &&
             left[left.size() - 1 - count] == open_[open_.size() - 1 - count])
        ++count;
      if (count == left.size())
        break;
      // The operation that should come last here was computed earlier, with others behind it, so one of the two gets a name and a
      // statement.
      auto early = llvm::find(open_, left[left.size() - 1 - count]);
      size_t number = static_cast<size_t>(early - open_.begin());
      size_t last = open_.size() - 1 - count;
      bool isTaken = llvm::is_contained(left, open_[last]);
      name(isTaken ? number + 1 : last + 1);
    }
    open_.resize(open_.size() - left.size());
  }
  /// A statement stands here: what is open was computed before it.
  void close() { name(open_.size()); }

private:
  void name(size_t count) {
    named_.insert(open_.begin(), open_.begin() + static_cast<ptrdiff_t>(count));
    open_.erase(open_.begin(), open_.begin() + static_cast<ptrdiff_t>(count));
  }

  llvm::DenseSet<Operation *> &named_;
  llvm::SmallVector<Operation *> open_;
};

} // namespace

/// Written wherever they are used, or not at all: their place says nothing.
static bool hasNoPlace(Operation *op) {
  bool isPosition = isa<ir::ConvertOp>(op) &&
                    op->getResult(0).getType().isIndex(); // of an element, as a position
  if (isPosition)
    return true;
  return isPositionOp(op) || op->hasTrait<OpTrait::ConstantLike>() || isCheap(op) ||
         isTransparent(op) || isa<ir::NewAxisOp, ir::DimOp, ir::AllocOp>(op);
}

/// A load of all of an array in a program is written as its name, which computes nothing.
static bool isName(BodyCode &code, Operation *op) {
  auto load = dyn_cast<ir::LoadOp>(op);
  return load && !load.getOutside() && load.getSteps().empty() &&
         !load->getParentOfType<ir::ParallelOp>() && ir::rankOf(load.getType()) > 0 &&
         ir::extentsOf(load.getType()) == ir::extentsOf(load.getRef().getType()) &&
         llvm::all_of(load.getOffsets(),
                      [](Value offset) { return getConstantIntValue(offset) == 0; }) &&
         isInlined(code, op);
}

static void collectWritten(BodyCode &code, Operation *op,
                           llvm::SmallVectorImpl<Operation *> &written) {
  llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
  if (isa<ir::ParallelOp>(op)) // a call of the kernel that it becomes
    getUsedValuesDefinedAbove(op->getRegions(), operands);
  for (Value operand : operands) {
    Operation *made = operand.getDefiningOp();
    if (!made || made->getBlock() != op->getBlock() || code.isKnown(operand))
      continue;
    if (hasNoPlace(made))
      collectWritten(code, made, written);
    else if (isName(code, made))
      continue;
    else if (isInlined(code, made) && !llvm::is_contained(written, made))
      written.push_back(made);
  }
}

void nameByOrder(BodyCode &code, mlir::Block &block) {
  Pending pending(code.inlining().named);
  for (Operation &op : block) {
    if (hasNoPlace(&op) || isName(code, &op))
      continue;
    auto check = dyn_cast<ir::CheckOp>(op);
    if (check && isMadeAgain(check))
      continue;
    llvm::SmallVector<Operation *> written;
    collectWritten(code, &op, written);
    // A store is written with its value first, as it is computed.
    pending.take(written);
    if (!op.hasTrait<OpTrait::IsTerminator>() && isInlined(code, &op)) {
      pending.add(&op);
      continue;
    }
    pending.close();
  }
}

} // namespace ptl::source
