// Selects instructions for operations on tiles of the vector cores: a table of patterns, and the
// pass that records which pattern is used.
#pragma once

#include "passes/lower_block/kernel_context.h"

#include "mlir/Support/LogicalResult.h"

namespace ptl::block {

/// The fallback for operations without an instruction: the scalar unit processes the elements one
/// by one.
inline constexpr llvm::StringLiteral kByElements = "elements";

/// One way to implement some operations.
struct InstructionPattern {
  /// The name of this way if a machine can implement the operation by this pattern; otherwise
  /// empty.
  llvm::StringRef (*way)(mlir::Operation *op, const Machine &machine);
  void (*lower)(KernelContext &c, mlir::Operation *op);
};
using InstructionPatterns = llvm::ArrayRef<InstructionPattern>;

/// Whether an operation is executed by the vector cores and needs a pattern. Operations that both
/// kinds of cores execute for themselves (loads, constants, views), control flow, checks and stores
/// do not.
bool hasWay(mlir::Operation *op, const CoreAssignment &cores);

/// Records the way of each operation of a grid: the first pattern of the table that the machine
/// supports. False after an error, which is reported, if there is none.
bool markInstructions(ir::ParallelOp grid, const Machine &machine, const Report &report);

/// Verifies that the attributes are present and that the machine supports each operation's way.
mlir::LogicalResult verifyInstructions(ir::ParallelOp grid, const Machine &machine);

/// Lowers an operation in its recorded way. False if it has none.
bool lowerInItsWay(KernelContext &c, mlir::Operation *op);

} // namespace ptl::block
