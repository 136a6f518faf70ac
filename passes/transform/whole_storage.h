// Storage in global memory for whole arrays: passes at tensor level allocate, write and read it.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// Allocates storage for an array of this type; `named` has the lengths that are not constants, in
/// order.
mlir::Value allocateStorage(mlir::OpBuilder &builder, mlir::Location loc, ArrayType type,
                            mlir::ValueRange named);
/// Allocates storage with the lengths of `value`, which need not be stored there.
mlir::Value storageLike(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);
StoreOp storeWhole(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                   mlir::Value ref);
mlir::Value loadWhole(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value ref,
                      mlir::Type type);
/// Whether storage still holds the value of a load when `end`, an operation of the load's block or in a branch or loop of it, begins; null stands
/// for the end of that block.
bool isUnchangedUntil(LoadOp load, mlir::Operation *end);

} // namespace ptl::ir
