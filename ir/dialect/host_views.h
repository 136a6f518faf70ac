// Which arrays of a chip's host code are storage under another name, and which are copies of it.
#pragma once

#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// What an array of host code is a part or another form of, by way of the operations in between.
mlir::Value storageUnder(mlir::Value array);

/// The operations that use an array, also by way of what describes the same elements.
llvm::SmallVector<mlir::Operation *> usesOfElements(mlir::Value array);

/// Whether nobody writes the storage between a load or slice of host code and the last use of what
/// it gives: then no copy is needed. What is loaded in a loop is used in the same turn.
bool staysAsItIs(mlir::Operation *load);

/// Whether a load or slice of host code gives all elements of its operand, in the same form, and
/// these stay as they are: it is nothing but another name.
bool isOnlyName(mlir::Operation *load);

} // namespace ptl::ir
