// Splits loops in whose iterations the cube and the vector cores hand values to each other several
// times into stages: some operations run an iteration ahead of the others, so that no core waits
// for a result that the other one computes from what it has just handed over.
#pragma once

#include "machines/machine.h"
#include "passes/lower_block/assign_cores.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <array>

namespace ptl::block {

/// The operations of one kind of core in a loop's body, by stage: ahead (0) and an iteration behind
/// (1).
struct LoopStages {
  /// The operations of each stage, with the loads, constants and scalars that they read.
  std::array<llvm::DenseSet<mlir::Operation *>, 2> operations;
  /// Values that are made ahead and read behind.
  llvm::SetVector<mlir::Value> kept;
  /// For each variable that this core carries, the stage that reads and writes it; -1 for another
  /// core's.
  llvm::SmallVector<int> stageOfVariable;
  /// For each value that comes from another core, the stage that reads it.
  llvm::DenseMap<mlir::Value, int> arrivals;

  bool isSplit() const { return !operations[0].empty() && !operations[1].empty(); }
};

/// Marks the loops of a grid that are split into stages: those with `pipeline`, whose values cross
/// often enough for that to help and whose iterations can be split on both kinds of cores. Values
/// that share a queue, and meetings of the cores, keep the order of the program.
void markLoopStages(ir::ParallelOp grid, const Machine &machine);

/// Checks that the marked loops can be split: nothing ahead reads anything behind, on either core,
/// a variable belongs to one stage, and a value that crosses is read by one stage.
mlir::LogicalResult verifyLoopStages(ir::ParallelOp grid);

/// The marked stages of a loop on one kind of core; nothing where it has none.
std::optional<LoopStages> markedStages(mlir::scf::ForOp loop, const CoreAssignment &cores,
                                       CoreKind core);
int64_t turnsOf(mlir::scf::ForOp loop);

} // namespace ptl::block
