// Tensor level to tile level: groups of operations become grids over tiles of their root.
#include "passes/passes.h"
#include "passes/transform/forward_storage.h"
#include "passes/transform/groups/find_groups.h"
#include "passes/transform/groups/fold_grids.h"
#include "passes/transform/groups/partition_emit.h"
#include "passes/transform/groups/schedule_effects.h"
#include "passes/transform/store_parts.h"
#include "passes/transform/take_by_arrays.h"
#include "passes/transform/tile_sums.h"
#include "passes/transform/unroll_steps.h"

using namespace mlir;

namespace ptl::ir {

#define GEN_PASS_DEF_PARTITION
#include "passes/passes.h.inc"

namespace {

struct PartitionPass : impl::PartitionBase<PartitionPass> {
  using PartitionBase::PartitionBase;

  void runOnOperation() override {
    ScheduleEffects effects(getOperation());
    forwardStorage(getOperation());
    TileSizes sizes{productM, productN, tileBytes};
    takeByArrays(getOperation());
    tileSums(getOperation(), sizes);
    unrollSteps(getOperation(), kUnrolledOnCpu);
    storeParts(getOperation());
    makeGrids(getOperation(), kCpuLimits, [&](llvm::ArrayRef<OpGroup *> groups, unsigned number) {
      PartitionEmitter(groups, sizes, number).emit();
    });
    effects.check();
    foldGrids(getOperation());
  }
};

} // namespace
} // namespace ptl::ir
