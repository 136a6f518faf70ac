// Few tiles along a long axis: most cores would have nothing to do while few go along it. It is cut
// into pieces, which points of grids fold for themselves; who needs the whole joins what the pieces
// came to. Where lengths are not known, a branch decides when they are.
#pragma once

#include "passes/transform/groups/chunk_emit.h"

namespace ptl::ir {

/// Emits grids as its base does, and in pieces what takes less time so: sums and the like, in a grid
/// for those that do not depend on each other, and running sums.
class PiecesEmitter : public ChunkEmitter {
public:
  using ChunkEmitter::ChunkEmitter;

private:
  void emitCode(llvm::ArrayRef<RootStores> stores) override;
  llvm::SmallVector<int64_t> gridAxes() const override;

  void inLoops(llvm::ArrayRef<int64_t> ids, mlir::ValueRange carried,
               llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body,
               llvm::SmallVectorImpl<mlir::Value> &results) override;

  // whether, and how large
  int64_t axisToCut() const;
  mlir::Value isWorthCutting(int64_t cut);
  void cutAxis(int64_t cut);
  void fitSteps();
  mlir::Value lengthOfPiece();

  // the code
  void emitInPieces(StoreOp into);
  void emitParts(llvm::ArrayRef<mlir::Operation *> ops);
  void inGrid(int64_t along, llvm::function_ref<void()> body);
  mlir::Value presentPiece();
  void enterPiece();
  AxisMap partMap(mlir::Operation *op) const;
  AxisMap partsMap(mlir::Operation *op, int64_t pieces) const;
  mlir::Value foldToPart(mlir::Operation *scan);
  mlir::Value joinParts(mlir::Operation *op, mlir::Value upTo = {});

  int64_t cut_ = kWhole; ///< the axis that is cut
  int64_t count_ = 0;    ///< of pieces, some of which may be empty
  /// Axes that the group lacks: the piece of a point of the grid, and all pieces in an array of what
  /// each of them came to.
  int64_t point_ = kWhole, parts_ = kWhole;
  int64_t along_ = kWhole;  ///< the axis by which the present grid goes along pieces, if it does
  mlir::Value pieceLength_; ///< of a grid along positions of the axis that is cut
  llvm::MapVector<mlir::Operation *, mlir::Value> made_; ///< what each piece came to
};

} // namespace ptl::ir
