// Selects instructions for operations on tiles of the vector cores: a table of patterns, and the
// pass that records which pattern is used.
#pragma once

#include "passes/lower_block/kernel_context.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// The way of operations without an instruction: the scalar unit goes through the elements.
inline constexpr llvm::StringLiteral kByElements = "elements";

/// One way to implement some operations.
struct InstructionPattern {
  /// The name of the way, if a machine can do the operation by this pattern; else empty.
  llvm::StringRef (*way)(mlir::Operation *op, const Machine &machine);
  void (*lower)(KernelContext &c, mlir::Operation *op);
};
using InstructionPatterns = llvm::ArrayRef<InstructionPattern>;

/// Whether an operation is executed by the vector cores and has a way. Operations that both kinds
/// of cores do for themselves (loads, constants, views), control flow, checks and stores have none.
bool hasWay(mlir::Operation *op, const CoreAssignment &cores);

/// Records the way of each operation of a grid: the first one of the table that the machine has.
/// False after an error, which is reported, if there is none.
bool markInstructions(ir::ParallelOp grid, const Machine &machine, const Report &report);

/// Checks that the attributes are there and that the machine can do each operation in its way.
mlir::LogicalResult verifyInstructions(ir::ParallelOp grid, const Machine &machine);

/// Lowers an operation in its recorded way. False if it has none.
bool lowerInItsWay(KernelContext &c, mlir::Operation *op);

} // namespace ptl::block
