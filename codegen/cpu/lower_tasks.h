// Tasks of programs: grids and other code that computes arrays. The runtime executes a task as soon
// as its inputs are there.
#pragma once

#include "codegen/cpu/outline_body.h"
#include "passes/analysis/grid_regions.h"

namespace ptl::cpu {

/// The boxes of a storage that a task touches; nothing if they are not known.
using RegionsOf =
    llvm::function_ref<std::optional<llvm::SmallVector<ir::RegionBounds, 4>>(mlir::Value ref)>;
/// Submits `count` points of a body, with the storages that it touches through the values it has
/// captured.
void submitTask(Lowering &l, mlir::Operation *op, mlir::func::FuncOp body, mlir::Value count,
                const Captured &captured, RegionsOf regionsOf);
/// Emits by `emit` the code that computes arrays for `op`; in a program as a task of its own.
void asTask(Lowering &l, mlir::Operation *op, llvm::function_ref<void()> emit);

} // namespace ptl::cpu
