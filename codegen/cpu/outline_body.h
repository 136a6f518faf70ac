// Functions of their own for what threads of the runtime run: the bodies of grids and tasks.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// A function for the points [begin, end) of a grid or task: `emit` makes its code. What that uses
/// of the function around it, `captureInto` has to hand over.
mlir::func::FuncOp bodyFunction(Lowering &l,
                                llvm::function_ref<void(mlir::Value begin, mlir::Value end)> emit);

/// Values of the present function that a body uses, in memory: cells of their own sizes, one after
/// the other.
struct Captured {
  mlir::Value cells;
  int64_t bytes = 0;
  /// Each value as the present function and as the body knows it.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> values;
};
Captured captureInto(Lowering &l, mlir::func::FuncOp body);

} // namespace ptl::cpu
