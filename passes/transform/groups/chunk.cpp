// Tensor level to tile level for chips: groups of operations become grids over tiles of two axes,
// and long axes are gone along in chunks.
#include "passes/passes.h"

#include "passes/analysis/lengths.h"
#include "passes/transform/expand/check_positions.h"
#include "passes/transform/expand/cut_by_parts.h"
#include "passes/transform/expand/expand_attention.h"
#include "passes/transform/expand/expand_control.h"
#include "passes/transform/expand/expand_tensors.h"
#include "passes/transform/expand/join_axes.h"
#include "passes/transform/expand/join_transposes.h"
#include "passes/transform/expand/search_long_rows.h"
#include "passes/transform/expand/search_numbers.h"
#include "passes/transform/expand/serial_atomics.h"
#include "passes/transform/expand/sort_networks.h"
#include "passes/transform/expand/split_contractions.h"
#include "passes/transform/expand/split_short_axes.h"
#include "passes/transform/expand/stack_sums.h"
#include "passes/transform/expand/sum_dots.h"
#include "passes/transform/expand/turn_short_rows.h"
#include "passes/transform/expand/whole_values.h"
#include "passes/transform/forward_storage.h"
#include "passes/transform/groups/chunk_pieces.h"
#include "passes/transform/groups/find_groups.h"
#include "passes/transform/groups/schedule_effects.h"
#include "passes/transform/output_views.h"
#include "passes/transform/take_turns.h"
#include "passes/transform/tile_recurrences.h"
#include "passes/transform/unroll_steps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

#define GEN_PASS_DEF_CHUNK
#include "passes/passes.h.inc"

namespace {

/// Lengths are asked of what made them, so that no array stays for its length alone.
void forwardLengths(func::FuncOp function) {
  llvm::SmallVector<DimOp> dims;
  function.walk([&](DimOp dim) { dims.push_back(dim); });
  for (DimOp dim : dims) {
    if (!dim.getSource().getDefiningOp() || isa<RefType>(dim.getSource().getType()))
      continue;
    OpBuilder builder(dim);
    Value length = lengthOf(builder, dim.getSource(), static_cast<int64_t>(dim.getAxis()));
    if (auto other = length.getDefiningOp<DimOp>(); other && other.getSource() == dim.getSource()) {
      if (other != dim)
        other.erase();
      continue;
    }
    dim.replaceAllUsesWith(length);
    dim.erase();
  }
}

/// A box without elements, as an empty part of a `concat`, has no tiles.
void dropEmptyStores(func::FuncOp function) {
  llvm::SmallVector<StoreOp> empty;
  function.walk([&](StoreOp store) {
    bool isEmpty =
        llvm::any_of(store.getLengths(), [](Value v) { return matchPattern(v, m_Zero()); });
    if (isEmpty && !store->getParentOfType<ParallelOp>())
      empty.push_back(store);
  });
  for (StoreOp store : empty)
    store.erase();
}

/// Tiles of matrices whose rows and columns are lanes of a loop, with room for some ten of them.
RecurrenceTiles recurrencesOn(const Machine &machine, int64_t halvings) {
  return {.elements = 4096 >> halvings,
          .grids = vectorCoresOf(machine),
          .rank = 3,
          .held = 64,
          .rounds = 16,
          .columns = 64,
          .isBounded = true,
          .needsRecurrence = false,
          .mayReread = false};
}

struct ChunkPass : impl::ChunkBase<ChunkPass> {
  using ChunkBase::ChunkBase;
  ChunkPass(const ChunkOptions &options, Machine own) : ChunkBase(options), own_(std::move(own)) {}

  void runOnOperation() override {
    std::optional<Machine> found = own_ || machine.empty() ? own_ : findMachine(machine);
    if (!found && !machine.empty()) {
      getOperation()->emitError("there is no machine `") << machine << '`';
      return signalPassFailure();
    }
    ScheduleEffects effects(getOperation());
    auto halvingsOf = [&](size_t group) { return group < halvings.size() ? halvings[group] : 0; };
    TileSizes sizes{productM, productN, tileBytes};
    // Of what the author stores: the expansions store what is to be loaded.
    forwardValues(getOperation());
    if (found) {
      sortByNetworks(getOperation());
      turnShortRows(getOperation());
      splitShortAxes(getOperation());
      // Attention that is written with letters is found as products.
      expandProducts(getOperation());
      sumDots(getOperation());
      // Copies compute nothing, so they have room for twice as much.
      stackSums(getOperation(), *found, 2 * sizes.halved(halvingsOf(0)).bytes);
      makeAttentions(getOperation(), *found, halvingsOf(0));
      splitContractions(getOperation(), *found);
    }
    unrollSteps(getOperation(), kUnrolledOnChip);
    if (found) {
      unrollStencils(getOperation(), kUnrolledOnChip);
      tileRecurrences(getOperation(), recurrencesOn(*found, halvingsOf(0)));
      searchLongRows(getOperation());
      checkPositions(getOperation());
      forwardLengths(getOperation());
      cutByParts(getOperation());
    }
    searchNumbers(getOperation());
    serialiseAtomics(getOperation());
    joinTransposes(getOperation());
    joinAxes(getOperation());
    viewOutputs(getOperation());
    forwardStorage(getOperation());
    storeCarried(getOperation());
    takeTurns(getOperation());
    forwardStorage(getOperation()); // of what loops carry
    expandTensors(getOperation(), sizes.halved(halvingsOf(0)).bytes, found ? &*found : nullptr);
    viewOutputs(getOperation());    // of what is made under another shape
    forwardStorage(getOperation()); // of what boxes are replaced in
    dropEmptyStores(getOperation());
    bringIntoGrids(getOperation());
    forwardLengths(getOperation());
    ArmCounts arms;
    makeGrids(getOperation(), kChipLimits, [&](llvm::ArrayRef<OpGroup *> groups, unsigned number) {
      PiecesEmitter::Halvings own;
      for (unsigned width = 0; width < own.size(); ++width)
        own[width] = halvingsOf(PiecesEmitter::tileGroupOf(number, width));
      PiecesEmitter(groups, sizes, number, found ? &*found : nullptr, own, arms).emit();
    });
    forwardLengths(getOperation());
    effects.check();
  }

  std::optional<Machine> own_; ///< instead of the one that the option names
};

} // namespace

std::unique_ptr<Pass> createChunkFor(const ChunkOptions &options, Machine machine) {
  return std::make_unique<ChunkPass>(options, std::move(machine));
}

} // namespace ptl::ir
