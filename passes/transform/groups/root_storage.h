// The storage of a group's root: the box that a use of it writes, or storage of its own. Its other
// users then load what is there.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// Which users of a result read it from the tiles of the grid that computes it.
using TakesTiles = llvm::function_ref<bool(mlir::Operation *)>;

/// The store that is the only use of a root's result, besides users that read tiles, and that
/// writes a plain box, so that tiles can be stored there directly; null if there is none.
StoreOp onlyStore(mlir::Value result, TakesTiles takes = nullptr);
inline StoreOp onlyStore(mlir::Operation *root, TakesTiles takes = nullptr) {
  return onlyStore(root->getResult(0), takes);
}

/// The same store, or one among other uses, which can load what it has stored; null if there is none.
StoreOp storeToReadBack(mlir::Value result, TakesTiles takes = nullptr);

/// Whether the store of a result that its tiles go to, if there is one, may move directly behind `last`, together
/// with those that move there in the same order.
bool mayStoreBehind(mlir::Value result, mlir::Operation *last, TakesTiles takes = nullptr,
                    llvm::ArrayRef<StoreOp> together = {});

struct RootStorage {
  mlir::Value result;      ///< of the root
  StoreOp plain;           ///< the plain store, or null
  bool isReadBack = false; ///< others load what the plain store has stored
  mlir::Value ref;         ///< null if there is a plain store
  llvm::SmallVector<mlir::Value> lengths, offsets;
};

/// Allocates storage for a result of a root without a plain store, or with one that cannot move to
/// where the other results are stored.
RootStorage allocateFor(mlir::OpBuilder &builder, mlir::Value result, TakesTiles takes);

/// Moves the operands of the plain store of a root's result, if there is one, to the builder's
/// insertion point.
void bringOperands(mlir::OpBuilder &builder, const RootStorage &storage);
/// Moves that store itself there, after its operands.
void bringStore(mlir::OpBuilder &builder, const RootStorage &storage);

/// The store of a result of a root. Storage of its own is written whole, and loaded by the users
/// that do not read tiles.
StoreOp storeFor(mlir::OpBuilder &builder, const RootStorage &storage, TakesTiles takes);

} // namespace ptl::ir
