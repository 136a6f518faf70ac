// Alias analysis of a chip's host code: which arrays are storage under another name, and which are
// copies.
#pragma once

#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// The storage of which an array of host code is a part or a view, through the operations in
/// between.
mlir::Value storageUnder(mlir::Value array);

/// The operations that use an array, including those that use it through operations that only view
/// its elements.
llvm::SmallVector<mlir::Operation *> usesOfElements(mlir::Value array);

/// Whether the storage is not written between a load or slice of host code and the last use of its
/// result, so that no copy is needed. A value that is loaded in a loop must be used in the same
/// iteration.
bool staysAsItIs(mlir::Operation *load);

/// Whether a load or slice of host code covers all elements of its operand, unchanged in form and
/// not written in between, so that it is only another name.
bool isOnlyName(mlir::Operation *load);

} // namespace ptl::ir
