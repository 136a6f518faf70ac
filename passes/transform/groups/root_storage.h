// Where the root of a group is stored: in the box that its only use writes, or in storage of its
// own that its users then load.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// Which users of a result take it from the tiles of the grid that computes it.
using TakesTiles = llvm::function_ref<bool(mlir::Operation *)>;

/// The store that is the only use of a root's result, beside those that take tiles, and writes a plain box, so that tiles can go
/// there at once; null if none.
StoreOp onlyStore(mlir::Value result, TakesTiles takes = nullptr);
inline StoreOp onlyStore(mlir::Operation *root, TakesTiles takes = nullptr) {
  return onlyStore(root->getResult(0), takes);
}

/// Whether the store of a result, where a plain one takes it, may as well stand right behind `last`, with those that go there in the same
/// order, too.
bool mayStoreBehind(mlir::Value result, mlir::Operation *last, TakesTiles takes = nullptr,
                    llvm::ArrayRef<StoreOp> together = {});

struct RootStorage {
  mlir::Value result; ///< of the root
  StoreOp plain;      ///< the plain store, or null
  mlir::Value ref;    ///< null where there is a plain store
  llvm::SmallVector<mlir::Value> lengths, offsets;
};

/// Storage for a result of a root that no plain store takes, or whose store cannot stand where the
/// other results are stored.
RootStorage allocateFor(mlir::OpBuilder &builder, mlir::Value result, TakesTiles takes);

/// Brings what the plain store of a root's result needs, if that is how it is stored, to where the builder is.
void bringOperands(mlir::OpBuilder &builder, const RootStorage &storage);
/// Brings that store itself there, behind what it needs.
void bringStore(mlir::OpBuilder &builder, const RootStorage &storage);

/// The store of a result of a root; storage of its own is stored whole and loaded by the users that do not take tiles.
StoreOp storeFor(mlir::OpBuilder &builder, const RootStorage &storage, TakesTiles takes);

} // namespace ptl::ir
