// Grids that are written at block level (`ptl.manual`): their body becomes the body of the kernel's
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
  mlir::Value workspace;      ///< an argument of the function; null if there is none
};

/// Fills the body of a function. `arguments` maps the values that the grid uses from outside,
/// except constants. False after an error, which is reported.
bool lowerManual(mlir::func::FuncOp function, ir::ParallelOp grid, mlir::IRMapping &arguments,
                 const ManualOptions &options, const Report &report);

/// The bytes of global memory per core group that the queues of a grid written at block level need.
int64_t queueBytes(ir::ParallelOp grid, const Machine &machine);

} // namespace ptl::block
