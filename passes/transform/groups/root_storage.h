// Where the root of a group is stored: in the box that its only use writes, or in storage of its
// own that its users then load.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// The store that is the root's only use and writes a plain box, so that tiles can go there at
/// once; null if none.
StoreOp onlyStore(mlir::Operation *root);

/// Whether the store of a root, where a plain one takes it, may as well stand right behind `last`.
bool mayStoreBehind(mlir::Operation *root, mlir::Operation *last);

struct RootStorage {
  mlir::Value ref; ///< null where there is a plain store
  llvm::SmallVector<mlir::Value> lengths, offsets;
};

/// Storage for a root that no plain store takes.
RootStorage allocateFor(mlir::OpBuilder &builder, mlir::Operation *root);

/// Brings the plain store of a root, if there is one, to where the builder is.
void bringStore(mlir::OpBuilder &builder, mlir::Operation *root);

/// The store of the root; storage of its own is stored whole and loaded by the users for which
/// `stays` is false.
StoreOp storeFor(mlir::OpBuilder &builder, mlir::Operation *root, const RootStorage &storage,
                 llvm::function_ref<bool(mlir::Operation *)> stays);

} // namespace ptl::ir
