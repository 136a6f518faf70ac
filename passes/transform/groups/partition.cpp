// Tensor level to tile level: groups of operations become grids over tiles of their root.
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_kinds.h"
#include "passes/passes.h"
#include "passes/transform/forward_storage.h"
#include "passes/transform/groups/find_groups.h"
#include "passes/transform/groups/fold_grids.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/partition_emit.h"
#include "passes/transform/groups/schedule_effects.h"
#include "passes/transform/output_views.h"
#include "passes/transform/store_parts.h"
#include "passes/transform/take_by_arrays.h"
#include "passes/transform/tile_recurrences.h"
#include "passes/transform/tile_sums.h"
#include "passes/transform/unroll_steps.h"

using namespace mlir;

namespace ptl::ir {

#define GEN_PASS_DEF_PARTITION
#include "passes/passes.h.inc"

/// Lengths of what operations compute are those of their operands, so that nobody needs a result to know how long it is.
static void askOperands(func::FuncOp function) {
  function.walk([](DimOp dim) {
    Operation *made = dim.getSource().getDefiningOp();
    // Grids that are there already are the author's.
    if (!made || !(isTiled(made) || isScan(made)) || dim->getParentOfType<ParallelOp>())
      return;
    OpBuilder builder(dim);
    dim.replaceAllUsesWith(lengthOf(builder, dim.getSource(), static_cast<int64_t>(dim.getAxis())));
    dim.erase();
  });
}

/// Conversions to the type that elements have already, which generic functions write (`f32(x)` of an `f32`), are no steps of a
/// computation: an array that several groups read would be stored for them once more.
static void dropIdleConversions(func::FuncOp function) {
  function.walk([](ConvertOp convert) {
    Value source = convert->getOperand(0);
    auto from = dyn_cast<ArrayType>(source.getType()), to = dyn_cast<ArrayType>(convert.getType());
    if (!from || !to || from.getElementType() != to.getElementType() ||
        from.getExtents() != to.getExtents() || convert->getParentOfType<ParallelOp>() ||
        isInSchedule(convert))
      return;
    convert.getResult().replaceAllUsesWith(source);
    convert.erase();
  });
}

namespace {

/// Tiles that stay in the first-level cache; as many of them as usual processors have cores.
constexpr RecurrenceTiles kRecurrencesOnCpu = {.elements = 2048,
                                               .grids = 16,
                                               .rank = 8,
                                               .held = 64,
                                               .rounds = 1,
                                               .columns = 1,
                                               .isBounded = false,
                                               .needsRecurrence = true,
                                               .mayReread = true};

struct PartitionPass : impl::PartitionBase<PartitionPass> {
  using PartitionBase::PartitionBase;

  void runOnOperation() override {
    ScheduleEffects effects(getOperation());
    dropIdleConversions(getOperation());
    forwardStorage(getOperation());
    TileSizes sizes{productM, productN, tileBytes};
    takeByArrays(getOperation());
    tileSums(getOperation(), sizes);
    unrollSteps(getOperation(), kUnrolledOnCpu);
    tileRecurrences(getOperation(), kRecurrencesOnCpu);
    viewOutputs(getOperation(), /*onlyComputed=*/true);
    forwardStorage(getOperation()); // of what loops leave
    storeParts(getOperation());
    divideCopies(getOperation());
    askOperands(getOperation());
    repeatPositions(getOperation());
    makeGrids(getOperation(), kCpuLimits, [&](llvm::ArrayRef<OpGroup *> groups, unsigned number) {
      PartitionEmitter(groups, sizes, number).emit();
    });
    effects.check();
    foldGrids(getOperation());
  }
};

} // namespace
} // namespace ptl::ir
