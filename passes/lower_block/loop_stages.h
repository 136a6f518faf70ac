// Loops whose iterations the cube and the vector cores hand to each other several times: which of
// its operations run an iteration ahead of the others, so that no core waits for what the other one
// makes of what it has just handed over.
#pragma once

#include "machines/machine.h"
#include "passes/lower_block/assign_cores.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <array>

namespace ptl::block {

/// What one kind of core does of a loop's body: ahead (0) and an iteration behind (1).
struct LoopStages {
  /// Operations of each stage, with the loads, constants and scalars that they read.
  std::array<llvm::DenseSet<mlir::Operation *>, 2> operations;
  /// Values that are made ahead and read behind.
  llvm::SetVector<mlir::Value> kept;
  /// By variable that this core carries: the stage that reads and writes it; -1: another core's.
  llvm::SmallVector<int> stageOfVariable;
  /// By value that comes from another core: the stage that takes it.
  llvm::DenseMap<mlir::Value, int> arrivals;

  bool isSplit() const { return !operations[0].empty() && !operations[1].empty(); }
};

/// Says so for the loops of a grid that go in stages: those with `pipeline`, whose values cross
/// often enough for that to help and whose iterations can be split on both kinds of cores. In
/// queues that several values share, their order is that of the program, and so it is where cores
/// meet.
void markLoopStages(ir::ParallelOp grid, const Machine &machine);

/// Whether what is said can be done, errors if not: nothing that is ahead reads what is behind, on
/// either core, a variable belongs to one stage, and what crosses is taken by one stage.
mlir::LogicalResult verifyLoopStages(ir::ParallelOp grid);

/// The stages of a loop on one kind of core, as they are said; nothing where it has none.
std::optional<LoopStages> markedStages(mlir::scf::ForOp loop, const CoreAssignment &cores,
                                       CoreKind core);
int64_t turnsOf(mlir::scf::ForOp loop);

} // namespace ptl::block
