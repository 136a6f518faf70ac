// Tasks of programs: grids and other code that computes arrays. The runtime executes a task as soon
// as its inputs are complete.
#pragma once

#include "codegen/cpu/outline_body.h"
#include "passes/analysis/grid_regions.h"

namespace ptl::cpu {

/// The boxes of a storage that a task accesses; nothing if they are unknown.
using RegionsOf =
    llvm::function_ref<std::optional<llvm::SmallVector<ir::RegionBounds, 4>>(mlir::Value ref)>;
/// Submits a task of `count` points that run `body`, with its accesses to the storages that it
/// reaches through captured values.
void submitTask(Lowering &l, mlir::Operation *op, mlir::func::FuncOp body, mlir::Value count,
                const Captured &captured, RegionsOf regionsOf);
/// Wraps the code that `emit` emits for `op`, which computes arrays; in a program it becomes a task
/// of its own.
void asTask(Lowering &l, mlir::Operation *op, llvm::function_ref<void()> emit);

} // namespace ptl::cpu
