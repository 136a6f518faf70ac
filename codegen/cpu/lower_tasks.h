// Tasks of programs: grids and other code that computes arrays, which the runtime executes as soon
// as what they read is there.
#pragma once

#include "codegen/cpu/outline_body.h"
#include "passes/analysis/grid_regions.h"

namespace ptl::cpu {

/// The boxes of a storage that a task touches; nothing where that is not known.
using RegionsOf =
    llvm::function_ref<std::optional<llvm::SmallVector<ir::RegionBounds, 4>>(mlir::Value ref)>;
/// Submits `count` points of a body, with what it touches by way of the values it has captured.
void submitTask(Lowering &l, mlir::Operation *op, mlir::func::FuncOp body, mlir::Value count,
                const Captured &captured, RegionsOf regionsOf);
/// Emits what `emit` does, which computes arrays for `op`: in a program as a task of its own.
void asTask(Lowering &l, mlir::Operation *op, llvm::function_ref<void()> emit);

} // namespace ptl::cpu
