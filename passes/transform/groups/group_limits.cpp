#include "passes/transform/groups/group_limits.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/fold.h"
#include "ir/ops/op_lowering.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/whole_storage.h"

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
  // These may have several results, so they are named on their own.
  return isa<TopkOp, FoldOp>(op) ||
         (isArray(op) && (isTiled(op) || isTaken(op) || onlyDescribes(op)));
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

/// Whether a part of an array has its rows whole, so that it is read like an array. Shorter rows are read one by one,
/// which takes longer than to store what is made of them.
bool hasWholeRows(SliceOp part) {
  llvm::ArrayRef<Extent> own = extentsOf(part.getType()),
                         all = extentsOf(part.getSource().getType());
  return !own.empty() && part.getSteps().empty() && !part.getOutside() &&
         own.back() == all.back() &&
         !llvm::is_contained(part.getDropped(), static_cast<int64_t>(all.size()) - 1);
}

/// The array in memory that a value is made from in a few steps, each of which a vector core does while the
/// array is on its way: conversions, and arithmetic with numbers. Null for others.
Value madeFrom(Value value, int steps) {
  Operation *op = value.getDefiningOp();
  if (auto part = dyn_cast_or_null<SliceOp>(op))
    return hasWholeRows(part) && madeFrom(part.getSource(), 0) ? value : Value();
  // What is overwritten later would have to be kept for it.
  if (auto load = dyn_cast_or_null<LoadOp>(op); load && !isUnchangedUntil(load, nullptr))
    return {};
  if (!op || isa<LoadOp>(op))
    return isa<ArrayType>(value.getType()) ? value : Value();
  if (steps == 0 || !isa<ConvertOp, AddOp, SubOp, MulOp>(op))
    return {};
  Value array;
  for (Value operand : op->getOperands()) {
    bool isNumber = !isa<ArrayType>(operand.getType()) ||
                    (operand.getDefiningOp() && isFill(operand.getDefiningOp()));
    if (isNumber)
      continue;
    if (array || extentsOf(operand.getType()) != extentsOf(value.getType()))
      return {};
    array = operand;
  }
  return array ? madeFrom(array, steps - 1) : Value();
}

bool isMadeAgainOnChip(Operation *op) {
  constexpr int kMostSteps = 3;
  if (!isArray(op) || isScheduled(op) || isa<LoadOp>(op))
    return false;
  Value source = madeFrom(op->getResult(0), kMostSteps);
  auto bitsOf = [](Value v) { return elementTypeOf(v.getType()).getIntOrFloatBitWidth(); };
  // Each group then reads the source instead of what was made of it.
  return source && bitsOf(source) <= bitsOf(op->getResult(0));
}

/// Whether a value is that of a product, or is made from one in a few steps from element to element.
bool followsProduct(Value value, int steps) {
  Operation *op = value.getDefiningOp();
  if (!op || isProduct(op) || steps == 0)
    return op && isProduct(op);
  return (isElementwise(op) || isView(op)) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return followsProduct(operand, steps - 1);
         });
}

/// Reductions have tiles of their own on a chip, and arms for long axes and narrow columns. What follows a
/// product belongs to its grid, where vector cores compute it beside the next tile's product.
bool isSharedOnChip(Operation *op) {
  constexpr int kMostSteps = 4;
  return isElementwise(op) && !isView(op) && !followsProduct(op->getResult(0), kMostSteps);
}

/// Vector units have no numbers of 64 bits: arithmetic on these takes so many instructions that memory is not what it waits for.
bool isNative(Operation *op) {
  auto isNarrow = [](Type type) {
    Type elem = elementTypeOf(type);
    return !elem.isIndex() && elem.getIntOrFloatBitWidth() <= 32;
  };
  return llvm::all_of(op->getOperandTypes(), isNarrow) &&
         llvm::all_of(op->getResultTypes(), isNarrow);
}

/// Whether an array has a single position along some axis of another one that has more: it is small beside it.
bool isSmallBeside(Value value, llvm::ArrayRef<Extent> extents) {
  llvm::ArrayRef<Extent> own = extentsOf(value.getType());
  size_t missing = extents.size() - std::min(own.size(), extents.size());
  for (size_t axis = 0; axis < extents.size(); ++axis)
    if (!extents[axis].isOne() && (axis < missing || own[axis - missing].isOne()))
      return true;
  return false;
}

/// Whether a small value may be read wherever a large one is computed of it: nothing overwrites it.
bool staysInMemory(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto load = dyn_cast<LoadOp>(op))
      return isUnchangedUntil(load, nullptr);
    if (!isView(op))
      break;
    value = op->getOperand(0);
  }
  return true;
}

/// Whether the arithmetic is that of vector units, which compute with bytes in several steps.
bool hasNoBytes(Operation *op) {
  return llvm::none_of(op->getOperandTypes(), [](Type type) {
    Type elem = elementTypeOf(type);
    return !elem.isIndex() && !elem.isInteger(1) && elem.getIntOrFloatBitWidth() < 16;
  });
}

/// What is known of the arrays that a value takes a few steps from.
struct FewSteps {
  bool (*isStep)(Operation *);
  size_t mostSources;
  int left; ///< steps, in additions
  llvm::SmallSetVector<Value, 2> sources;
};

/// Counts the additions that a value is worth, computed from arrays in memory, of which few may be as large as it; false where it
/// takes something else, or too many.
bool isOfFewSteps(Value value, llvm::ArrayRef<Extent> extents, FewSteps &few) {
  if (!isa<ArrayType>(value.getType()))
    return true;
  if (isSmallBeside(value, extents))
    return staysInMemory(value);
  Operation *op = value.getDefiningOp();
  if (op && isFill(op))
    return true;
  if (!op || isa<LoadOp>(op)) {
    few.sources.insert(value);
    return few.sources.size() <= few.mostSources && staysInMemory(value);
  }
  if (!isElementwise(op) || isView(op) || !few.isStep(op) ||
      extentsOf(op->getResult(0).getType()) != extents)
    return false;
  few.left -= opLowering(recordOf(op)->id).cpuCost;
  return few.left >= 0 && llvm::all_of(op->getOperands(), [&](Value operand) {
           return isOfFewSteps(operand, extents, few);
         });
}

/// Whether a value takes a few such steps from so many arrays in memory, whose elements are no longer than its own, and from what is small
/// beside it.
bool isMadeByAll(Operation *op, bool (*isStep)(Operation *), size_t mostSources) {
  constexpr int kMostSteps = 4;
  if (!isArray(op) || isScheduled(op) || !isElementwise(op) || isView(op))
    return false;
  FewSteps few{isStep, mostSources, kMostSteps, {}};
  auto bitsOf = [](Value v) { return elementTypeOf(v.getType()).getIntOrFloatBitWidth(); };
  return isOfFewSteps(op->getResult(0), extentsOf(op->getResult(0).getType()), few) &&
         llvm::all_of(few.sources,
                      [&](Value source) { return bitsOf(source) <= bitsOf(op->getResult(0)); });
}

/// Elements of matrices: a tile of one loads what is small for many rows at once, and one of an image for each line.
bool isMadeByAllOnChip(Operation *op) {
  auto isStep = [](Operation *step) { return isNative(step) && hasNoBytes(step); };
  return isArray(op) && rankOf(op->getResult(0).getType()) <= 2 &&
         isMadeByAll(op, isStep, /*mostSources=*/1);
}

/// To write an array takes as long as to read it twice, as lines are read before they are written.
bool isMadeByAllOnCpu(Operation *op) {
  return isMadeByAll(op, [](Operation *) { return true; }, /*mostSources=*/2);
}

} // namespace

const GroupLimits kCpuLimits = {
    .space = GroupLimits::Space::Root,
    .looksThroughViews = false,
    .joinsScans = true,
    .loadsProductOperands = false,
    .foldsBesideProducts = true,
    .foldsOnlyProducts = true,
    .tilesAreMatrices = false,
    .needsIndependentTiles = true,
    .storesRepeatedWork = false,
    .sharesArrays = true,
    .sharesWithSome = true,
    .storesMembers = false,
    .mostMembers = 1000, // a group of more is not faster, and its tile is computed by recursion
    .isCandidate = isCpuCandidate,
    .isMember = isCpuCandidate,
    .mustBeStored = isStoredOnCpu,
    .isMadeAgain = nullptr,
    .isMadeByAll = isMadeByAllOnCpu,
    .sharesGrid = [](Operation *) { return true; },
    .sharesReads = [](Operation *) { return true; },
};

const GroupLimits kChipLimits = {
    .space = GroupLimits::Space::All,
    .looksThroughViews = true,
    .joinsScans = false,
    .loadsProductOperands = true,
    .foldsBesideProducts = false,
    .foldsOnlyProducts = false,
    .tilesAreMatrices = true,
    .needsIndependentTiles = false,
    .storesRepeatedWork = true,
    .sharesArrays = false,
    .sharesWithSome = false,
    .storesMembers = true,
    .mostMembers = std::numeric_limits<size_t>::max(),
    .isCandidate = isChipCandidate,
    .isMember = isTiled,
    .mustBeStored = isStoredOnChip,
    .isMadeAgain = isMadeAgainOnChip,
    .isMadeByAll = isMadeByAllOnChip,
    .sharesGrid = isSharedOnChip,
    .sharesReads = isNative,
};

} // namespace ptl::ir
