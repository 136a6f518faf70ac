// What the vector cores do for each operation on tiles: a table of patterns, and the pass that
// writes down which one is taken.
#pragma once

#include "passes/lower_block/kernel_context.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// The way of what has no instruction: the scalar unit goes through the elements.
inline constexpr llvm::StringLiteral kByElements = "elements";

/// One way to do some operations.
struct InstructionPattern {
  /// The name of the way, if a machine can do the operation by this pattern; else empty.
  llvm::StringRef (*way)(mlir::Operation *op, const Machine &machine);
  void (*lower)(KernelContext &c, mlir::Operation *op);
};
using InstructionPatterns = llvm::ArrayRef<InstructionPattern>;

/// Whether an operation is the vector cores' and has a way: not what both kinds of cores make for
/// themselves (loads, constants, views), and not control flow, checks and stores.
bool hasWay(mlir::Operation *op, const CoreAssignment &cores);

/// Writes the way of each operation of a grid down, the first one of the table that the machine
/// has. False after an error, which is reported: there is none.
bool markInstructions(ir::ParallelOp grid, const Machine &machine, const Report &report);

/// Whether they are there and right, errors if not: the machine can do each operation in its way.
mlir::LogicalResult verifyInstructions(ir::ParallelOp grid, const Machine &machine);

/// An operation that has a way, done in that way. False: it says none.
bool lowerInItsWay(KernelContext &c, mlir::Operation *op);

} // namespace ptl::block
