// Splits loops in whose iterations the cube and the vector cores exchange values several times into
// two stages (software pipelining): some operations run an iteration ahead of the others, so that
// no core waits for a result that the other one computes from the value that was just passed to it.
#pragma once

#include "machines/machine.h"
#include "passes/lower_block/assign_cores.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <array>

namespace ptl::block {

/// The operations of one kind of core in a loop's body, by stage: 0 runs ahead, 1 runs an iteration
/// behind.
struct LoopStages {
  /// The operations of each stage, with the loads, constants and scalars that they read.
  std::array<llvm::DenseSet<mlir::Operation *>, 2> operations;
  /// Values that are computed by the first stage and read by the second.
  llvm::SetVector<mlir::Value> kept;
  /// For each variable that this core carries, the stage that reads and writes it; -1 if another
  /// core carries it.
  llvm::SmallVector<int> stageOfVariable;
  /// For each value that comes from another core, the stage that reads it.
  llvm::DenseMap<mlir::Value, int> arrivals;

  bool isSplit() const { return !operations[0].empty() && !operations[1].empty(); }
};

/// Marks the loops of a grid that are split into stages: those with `pipeline` in which values pass
/// between cores often enough for that to help, and whose iterations can be split on both kinds of
/// cores. Values that share a queue, and synchronisations of the cores, keep program order.
void markLoopStages(ir::ParallelOp grid, const Machine &machine);

/// Verifies that the marked loops can be split: nothing in the first stage reads anything of the
/// second, on either core, a variable belongs to one stage, and a value that passes between cores
/// is read by one stage.
mlir::LogicalResult verifyLoopStages(ir::ParallelOp grid);

/// The marked stages of a loop on one kind of core; nothing if it has none.
std::optional<LoopStages> markedStages(mlir::scf::ForOp loop, const CoreAssignment &cores,
                                       CoreKind core);
int64_t turnsOf(mlir::scf::ForOp loop);

} // namespace ptl::block
