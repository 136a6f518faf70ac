// Outlines the bodies of grids and tasks, which the runtime's threads run, into functions.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Makes a function for the points [begin, end) of a grid or task, whose code `emit` emits. Values
/// that it uses from the surrounding function have to be passed by `captureInto`.
mlir::func::FuncOp bodyFunction(Lowering &l,
                                llvm::function_ref<void(mlir::Value begin, mlir::Value end)> emit);

/// Values of the present function that a body uses, stored in memory one after the other.
struct Captured {
  mlir::Value cells;
  int64_t bytes = 0;
  /// Each value in the present function and in the body.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> values;
};
Captured captureInto(Lowering &l, mlir::func::FuncOp body);

} // namespace ptl::cpu
