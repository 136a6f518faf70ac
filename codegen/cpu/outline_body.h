// Outlines the bodies of grids and tasks into functions, which the runtime's threads call.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Makes a function for the points [begin, end) of a grid or task, with the code that `emit` emits.
/// Values of the surrounding function that it uses must be passed by `captureInto`.
mlir::func::FuncOp bodyFunction(Lowering &l,
                                llvm::function_ref<void(mlir::Value begin, mlir::Value end)> emit);

/// Values of the present function that a body uses, laid out in memory one after the other.
struct Captured {
  mlir::Value cells;
  int64_t bytes = 0;
  /// Each captured value, in the present function and in the body.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> values;
};
Captured captureInto(Lowering &l, mlir::func::FuncOp body);

} // namespace ptl::cpu
