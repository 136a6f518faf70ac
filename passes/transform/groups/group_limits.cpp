#include "passes/transform/groups/group_limits.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"

#include <limits>

using namespace mlir;

namespace ptl::ir {

namespace {

/// Array operations that only describe or create (casts, new axes, slices, constants): free to
/// repeat in each group.
bool onlyDescribes(Operation *op) {
  const OpRecord *record = recordOf(op);
  return isView(op) || isa<SliceOp>(op) || (record && record->opClass == OpClass::Creation);
}

bool isArray(Operation *op) {
  return op->getNumResults() == 1 && isa<ArrayType>(op->getResult(0).getType());
}

bool isCpuCandidate(Operation *op) {
  // `topk` has two results, so it is named on its own.
  return isa<TopkOp>(op) || (isArray(op) && (isTiled(op) || isTaken(op) || onlyDescribes(op)));
}

/// Views are roots only where they are stored as they are.
bool isStoredOnCpu(Operation *op) {
  // A view that nobody stores is computed where it is used.
  return !onlyDescribes(op) ||
         llvm::any_of(op->getUsers(), [](Operation *user) { return isa<StoreOp>(user); });
}

bool isChipCandidate(Operation *op) { return isTiled(op) || isView(op) || isFill(op); }

/// Views and constants are looked through, unless somebody wants them in memory.
bool isStoredOnChip(Operation *op) {
  if (isTiled(op))
    return true;
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    if (isa<DimOp>(user))
      return false;
    // Grids that are there already read what is in memory.
    bool looksThrough = (isTiled(user) || isView(user)) && !user->getParentOfType<ParallelOp>();
    return !looksThrough;
  });
}

} // namespace

const GroupLimits kCpuLimits = {
    .space = GroupLimits::Space::Root,
    .looksThroughViews = false,
    .joinsScans = true,
    .loadsProductOperands = false,
    .foldsBesideProducts = true,
    .tilesAreMatrices = false,
    .needsIndependentTiles = true,
    .mostMembers = 1000, // a group of more is not faster, and its tile is computed by recursion
    .isCandidate = isCpuCandidate,
    .isMember = isCpuCandidate,
    .mustBeStored = isStoredOnCpu,
};

const GroupLimits kChipLimits = {
    .space = GroupLimits::Space::All,
    .looksThroughViews = true,
    .joinsScans = false,
    .loadsProductOperands = true,
    .foldsBesideProducts = false,
    .tilesAreMatrices = true,
    .needsIndependentTiles = false,
    .mostMembers = std::numeric_limits<size_t>::max(),
    .isCandidate = isChipCandidate,
    .isMember = isTiled,
    .mustBeStored = isStoredOnChip,
};

} // namespace ptl::ir
