// Cuts a long axis with few tiles into pieces. Without that, most cores would be idle while a few
// iterate over the axis. Points of grids reduce the pieces independently, and the users of the
// whole combine the partial results. Columns of an unknown length may turn out to be narrow, so
// that wide tiles would be nearly empty. If lengths are unknown at compile time, branches decide at
// run time.
#pragma once

#include "passes/transform/groups/chunk_emit.h"

#include <array>

namespace ptl::ir {

/// The number of vector cores of a machine; 0 if it is unknown.
int64_t vectorCoresOf(const Machine &machine);

/// Whether a length is a constant, a dimension of the entry, an equal share of one or a product of these. Branches by
/// other lengths have formulas that are unreadable where tiles are written out as source.
bool isProductOfDims(mlir::Value length);

/// How many parts of `by` positions a length has, as a formula that does not change when it is read from source.
mlir::Value ceilQuotient(mlir::OpBuilder &b, mlir::Location loc, mlir::Value length, int64_t by);

/// How many groups of a function have an arm more for lengths that are known at launch only. Code grows by
/// each, so there is a limit for either kind.
struct ArmCounts {
  unsigned widths = 0;       ///< by the width of columns
  unsigned contractions = 0; ///< by the length of a contracted axis
};

/// Emits grids as its base does, and in pieces where that takes less time: sums and the like, in
/// one grid for independent ones, and prefix sums.
class PiecesEmitter : public ChunkEmitter {
public:
  /// Tiles are of columns of an unknown width, or of narrow ones, the narrowest last.
  static constexpr unsigned kWidths = 3;
  /// Like `halvings` of the base, for the grids of each arm of the branches by the width of columns.
  using Halvings = std::array<int64_t, kWidths>;
  PiecesEmitter(llvm::ArrayRef<OpGroup *> groups, const TileSizes &sizes, unsigned number,
                const Machine *machine, Halvings halvings, ArmCounts &arms)
      : ChunkEmitter(groups, sizes, number, machine, halvings[0]), halvingsOf_(halvings),
        arms_(arms) {}

  /// The number that identifies the tiles of a group's grids; each arm is fitted separately.
  static size_t tileGroupOf(unsigned number, unsigned width) {
    return kWidths * number + 1 + width;
  }

private:
  void mark(ParallelOp grid) override;
  void emitGroup(llvm::ArrayRef<StoreOp> into) override;
  void emitCode(llvm::ArrayRef<RootStores> stores) override;
  llvm::SmallVector<int64_t> gridAxes() const override;

  void inLoops(llvm::ArrayRef<int64_t> ids, mlir::ValueRange carried,
               llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body,
               llvm::SmallVectorImpl<mlir::Value> &results) override;

  // tiles of narrow columns: chunk_widths.cpp
  void emitByWidth(llvm::ArrayRef<RootStores> stores, unsigned width = 0);
  bool mayBeNarrow(int64_t row, int64_t col, unsigned width) const;
  int64_t narrowElements(int64_t row, int64_t col) const;
  mlir::Value isWorthNarrowing(int64_t row, int64_t col, unsigned width);
  void narrowTiles(int64_t row, int64_t col, unsigned width);
  int64_t axisOf(TileAxis::Role role) const;

  // whether, and how large
  Loops axesToCut() const;
  mlir::Value isWorthCutting(int64_t cut);
  void emitCuts(llvm::ArrayRef<RootStores> stores, MatmulOp product, llvm::ArrayRef<int64_t> cuts);
  void cutAxis(int64_t cut);
  void fitSteps();
  mlir::Value lengthOfPiece();

  // contractions: chunk_contractions.cpp
  MatmulOp contractionToCut() const;
  int64_t pieceStep(int64_t id) const;
  void setStep(int64_t id, int64_t step);
  mlir::Value countOfTiles();
  mlir::Value isWorthSplitting(MatmulOp product, int64_t cut);
  void cutContraction(MatmulOp product, int64_t cut);
  void placePiece();
  void emitProducts(MatmulOp product);
  void emitContraction(MatmulOp product, int64_t cut, StoreOp into);

  // the code
  /// Storage for what pieces come to, and a store that stands for those of tiles.
  struct Stored {
    ArrayType type;
    StoreOp store;
  };
  Stored storeOfParts(mlir::Operation *op);
  void keepParts(mlir::Operation *op, const Stored &parts);
  void emitInPieces(const RootStores &stores);
  llvm::MapVector<mlir::Operation *, mlir::Value> storeBefore();
  void emitParts(llvm::ArrayRef<mlir::Operation *> ops);
  void inGrid(int64_t along, llvm::function_ref<void()> body);
  mlir::Value presentPiece();
  void enterPiece();
  AxisMap partMap(mlir::Operation *op) const;
  AxisMap partsMap(mlir::Operation *op, int64_t pieces) const;
  mlir::Value foldToPart(mlir::Operation *scan);
  mlir::Value joinParts(mlir::Operation *op, mlir::Value upTo = {});

  int64_t cut_ = kWhole; ///< the axis that is cut
  int64_t count_ = 0;    ///< number of pieces, some of which may be empty
  bool isAsked_ = false; ///< a schedule has said how many pieces a contraction has
  /// Axes that are not in the group: the piece of a point of the grid, and all pieces in an array
  /// of partial results.
  int64_t point_ = kWhole, parts_ = kWhole;
  /// the axis by which the present grid iterates over pieces; `kWhole`: none
  int64_t along_ = kWhole;
  mlir::Value pieceLength_; ///< of a grid over positions of the axis that is cut
  llvm::MapVector<mlir::Operation *, mlir::Value> made_; ///< partial results of pieces

  Halvings halvingsOf_;
  ArmCounts &arms_;
  unsigned width_ = 0; ///< of the columns of the present grid; 0: unknown
};

} // namespace ptl::ir
