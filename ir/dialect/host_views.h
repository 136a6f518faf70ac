// Tells which arrays of a chip's host code are storage under another name, and which are copies of
// it.
#pragma once

#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// The storage of which an array of host code is a part or another form, looking through the
/// operations in between.
mlir::Value storageUnder(mlir::Value array);

/// The operations that use an array, also through operations that describe the same elements.
llvm::SmallVector<mlir::Operation *> usesOfElements(mlir::Value array);

/// Whether the storage is not written between a load or slice of host code and the last use of its
/// result, so that no copy is needed. A value that is loaded in a loop is used in the same
/// iteration.
bool staysAsItIs(mlir::Operation *load);

/// Whether a load or slice of host code has all elements of its operand, in the same form, and
/// these do not change, so that it is only another name.
bool isOnlyName(mlir::Operation *load);

} // namespace ptl::ir
