#include "passes/transform/groups/repeated_work.h"

#include "ir/dialect/ptl_dialect.h"
#include "ir/ops/op_lowering.h"
#include "passes/analysis/op_info.h"

#include <set>

using namespace mlir;

namespace ptl::ir {
namespace {

/// Rows of so many elements stay in the memory of a core, whatever else a tile needs.
constexpr int64_t kFits = 2048;

/// About as many instructions as it takes to store a tile, and to load it instead of what it is
/// computed from: the memory delivers a third of an element in each cycle of a vector core, which
/// takes one to four cycles for 64 elements.
constexpr int64_t kStoring = 20;

/// The instructions of a vector core for an elementwise operation.
int64_t instructionsOf(Operation *op) {
  const OpRecord *record = recordOf(op);
  if (!record || !isElementwise(op))
    return 0;
  const OpLowering &lowering = opLowering(record->id);
  return lowering.forms.tiles ? 1 : std::max<int64_t>(1, lowering.cpuCost);
}

/// The passes of the group over the axes that reductions fold.
class Passes {
public:
  explicit Passes(const OpGroup &group) : group_(group) {}

  /// In how many passes a member is computed.
  size_t computing(Operation *member) {
    std::set<int64_t> passes;
    note(member, passes);
    return passes.size();
  }

private:
  /// The pass in which a reduction is complete: the first is 1.
  int64_t passOf(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !group_.contains(op))
      return 0;
    // Values are used by several others, and without the table each way to them would be followed.
    auto [known, isNew] = passes_.try_emplace(op, 0);
    if (!isNew)
      return known->second;
    int64_t last = 0;
    for (Value operand : op->getOperands())
      last = std::max(last, passOf(operand));
    if (isReduction(op) && !group_.foldedBy(op).empty())
      ++last;
    return passes_[op] = last;
  }

  /// The passes of what is computed from a member: those of reductions, and that of the root.
  void note(Operation *op, std::set<int64_t> &passes) {
    if (!seen_.insert(op).second)
      return;
    bool folds = isReduction(op) && !group_.foldedBy(op).empty();
    // A reduction is computed in the pass that completes it. The root is computed after all that it needs is complete, in a pass more.
    if (folds || op == group_.root())
      passes.insert(passOf(op->getResult(0)) + (folds ? 0 : 1));
    if (folds)
      return;
    for (Operation *user : op->getUsers())
      if (group_.contains(user))
        note(user, passes);
      else if (isView(user))
        note(user, passes);
  }

  const OpGroup &group_;
  llvm::DenseMap<Operation *, int64_t> passes_;
  llvm::DenseSet<Operation *> seen_;
};

/// The instructions for a value from what is stored, as far as the block computes it element by
/// element; no more than it takes to know that they are many.
int64_t instructionsFor(Operation *op, llvm::DenseSet<Operation *> &seen) {
  if (!seen.insert(op).second)
    return 0;
  int64_t sum = instructionsOf(op);
  for (Value operand : op->getOperands()) {
    Operation *made = operand.getDefiningOp();
    // More than enough is as good as a number, which keeps the search short in a large group.
    if (sum >= kStoring || !made || made->getBlock() != op->getBlock() ||
        !isa<ArrayType>(operand.getType()) ||
        extentsOf(operand.getType()) != extentsOf(op->getResult(0).getType()))
      continue;
    sum += instructionsFor(made, seen);
  }
  return sum;
}

/// Whether a value is computed element by element from what is stored, in its block.
bool isOfStored(Operation *op, llvm::DenseSet<Operation *> &seen) {
  return !seen.insert(op).second || llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *made = operand.getDefiningOp();
    if (!made || !isa<ArrayType>(operand.getType()) || !(isTiled(made) || isView(made)))
      return true;
    // A costly operand is stored itself, so what is computed from it is not computed from what is
    // stored now.
    return !isCostly(made) && isOfStored(made, seen);
  });
}

/// Whether each element is computed for many elements of the group, which has an axis more.
bool isForMany(const OpGroup &group, Operation *member) {
  constexpr int64_t kFew = 4;
  AxisMap map = group.mapOf(member);
  llvm::DenseSet<Operation *> seen;
  return llvm::any_of(map, [](int64_t id) { return id != kWhole; }) &&
         llvm::any_of(group.parallel(),
                      [&](int64_t id) {
                        const Extent &extent = group.axis(id).extent;
                        return !llvm::is_contained(map, id) &&
                               !(extent.isConstant() && extent.length < kFew);
                      }) &&
         isOfStored(member, seen);
}

} // namespace

bool isWorthStoring(const OpGroup &group, Operation *member) {
  if (!isElementwise(member) || group.hasProduct() || member == group.root())
    return false;
  bool isLong = llvm::any_of(group.mapOf(member), [&](int64_t id) {
    if (id == kWhole || !group.axis(id).isReduced)
      return false;
    int64_t bound = group.axis(id).extent.capacity;
    return bound == Extent::kUnknown || bound > kFits;
  });
  llvm::DenseSet<Operation *> seen;
  return instructionsFor(member, seen) >= kStoring &&
         ((isLong && Passes(group).computing(member) > 1) || isForMany(group, member));
}

} // namespace ptl::ir
