// Few tiles along a long axis: most cores would have nothing to do while few go along it. It is cut
// into pieces, which points of grids fold for themselves; who needs the whole joins what the pieces
// came to. Columns of an unknown length may turn out to be narrow, so that tiles of wide ones would be
// nearly empty. Where lengths are not known, branches decide when they are.
#pragma once

#include "passes/transform/groups/chunk_emit.h"

namespace ptl::ir {

/// Vector cores of a machine; 0 if it does not say.
int64_t vectorCoresOf(const Machine &machine);

/// Whether a length is a number, a dimension of the entry or a product of dimensions. Branches by
/// others have formulas that nobody can read where tiles are written out as source.
bool isProductOfDims(mlir::Value length);

/// Emits grids as its base does, and in pieces what takes less time so: sums and the like, in a grid
/// for those that do not depend on each other, and running sums.
class PiecesEmitter : public ChunkEmitter {
public:
  /// `halvings`: as those of the base, of the grids of either arm by the width of columns.
  struct Halvings {
    int64_t wide, narrow;
  };
  PiecesEmitter(llvm::ArrayRef<OpGroup *> groups, const TileSizes &sizes, unsigned number,
                const Machine *machine, Halvings halvings)
      : ChunkEmitter(groups, sizes, number, machine, halvings.wide),
        narrowHalvings_(halvings.narrow) {}

  /// The number by which the tiles of a group's grids are known; each arm fits for itself.
  static size_t tileGroupOf(unsigned number, bool isNarrow) { return 2 * number + 1 + isNarrow; }

private:
  void mark(ParallelOp grid) override;
  void emitGroup(llvm::ArrayRef<StoreOp> into) override;
  void emitCode(llvm::ArrayRef<RootStores> stores) override;
  llvm::SmallVector<int64_t> gridAxes() const override;

  void inLoops(llvm::ArrayRef<int64_t> ids, mlir::ValueRange carried,
               llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body,
               llvm::SmallVectorImpl<mlir::Value> &results) override;

  // tiles of narrow columns: chunk_widths.cpp
  void emitByWidth(llvm::ArrayRef<RootStores> stores);
  bool mayBeNarrow(int64_t row, int64_t col) const;
  mlir::Value isWorthNarrowing(int64_t row, int64_t col);
  void narrowTiles(int64_t row, int64_t col);
  int64_t axisOf(TileAxis::Role role) const;

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

  int64_t narrowHalvings_;
  int64_t narrow_ = kWhole; ///< the columns of the present grid, if these are narrow
};

} // namespace ptl::ir
