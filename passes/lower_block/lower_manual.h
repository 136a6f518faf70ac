// Grids that are written at block level (`ptl.manual`): their body becomes that of the kernel's
// functions, one per kind of core.
#pragma once

#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/lower_block.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace ptl::block {

struct ManualOptions {
  CoreKind core;
  const Machine &machine;
  const LowerOptions &options;
  int64_t workspaceBytes = 0; ///< of one core group
  mlir::StringAttr peer;      ///< the function of the other kind of core
  mlir::Value workspace;      ///< an argument of the function; null: none
};

/// Fills the body of a function. `arguments` maps the values that the grid uses from outside, other
/// than constants. False after an error, which is reported.
bool lowerManual(mlir::func::FuncOp function, ir::ParallelOp grid, mlir::IRMapping &arguments,
                 const ManualOptions &options, const Report &report);

/// The bytes of global memory that the queues of a grid written at block level need, per core
/// group.
int64_t queueBytes(ir::ParallelOp grid, const Machine &machine);

/// Adds waits for events that may be set at the end of a point, or of the function. Signals are
/// counted while the kernel runs where it is not certain that a wait follows.
void drainEvents(mlir::func::FuncOp function, const Report &report);

} // namespace ptl::block
