// Emits the grid of a group of tensor operations whose tiles have two axes, rows and columns. Loops
// go along the other axes of the space one position at a time, and in chunks along an axis that a
// reduction folds.
#pragma once

#include "passes/transform/groups/grid_emitter.h"
#include "passes/transform/groups/product_tiles.h"

namespace ptl::ir {

/// Decides which axes of the group are the rows and columns of its tiles, and how long chunks are.
/// `groups`: all that share the grid; `axes`: by number, those of `group`.
void chooseChunks(llvm::ArrayRef<OpGroup *> groups, OpGroup &group, const TileSizes &sizes,
                  std::vector<TileAxis> &axes);

class ChunkEmitter : public GridEmitter {
public:
  /// `machine`: whose costs and cores decide about the tiles of products that its cube cores store
  /// themselves, or hand to the vector cores in slices; null: `sizes` do. `halvings`: how often the
  /// tiles are halved, because larger ones did not fit.
  ChunkEmitter(llvm::ArrayRef<OpGroup *> groups, const TileSizes &sizes, unsigned number,
               const Machine *machine, int64_t halvings)
      : GridEmitter(groups, sizes, number), machine_(machine), halvings_(halvings) {}

private:
  using Loops = llvm::SmallVector<int64_t>;

  // the grid and its loops: chunk_emit.cpp
  void emitGroup(llvm::ArrayRef<StoreOp> into) override;
  void mark(ParallelOp grid) override;
  llvm::SmallVector<int64_t> gridAxes() const override;
  bool hasEqualTiles(int64_t id) const override;
  bool isNamed(int64_t id) const override;
  std::string tileName(int64_t id) override;
  void inLoops(llvm::ArrayRef<int64_t> ids, mlir::ValueRange carried,
               llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body,
               llvm::SmallVectorImpl<mlir::Value> &results);
  void hoist(mlir::Operation *op, llvm::ArrayRef<int64_t> ids,
             llvm::DenseSet<mlir::Operation *> &seen);
  void byLevels(llvm::function_ref<void(llvm::ArrayRef<mlir::Operation *>)> visit);
  void reduceLevel(llvm::ArrayRef<mlir::Operation *> reductions);
  void reduceTogether(llvm::ArrayRef<mlir::Operation *> reductions);
  void storeRoot(StoreOp into);
  void storeScan(StoreOp into, llvm::ArrayRef<int64_t> ids);
  void storeTile(mlir::Value tile, StoreOp into, const AxisMap &map);
  Loops chunked(llvm::ArrayRef<int64_t> ids) const;

  // axes in pieces: chunk_pieces.cpp
  /// An axis along which reductions or the root's scan go, cut into pieces that each are a point's.
  struct Pieces {
    int64_t axis = kWhole, count = 0;
    /// Axes that the group lacks: the piece of a point of the grid, and all pieces in an array of
    /// what each of them came to.
    int64_t point = kWhole, parts = kWhole;
  };
  void emitCode(llvm::ArrayRef<RootStores> stores) override;
  int64_t axisToCut() const;
  mlir::Value isWorthCutting(int64_t cut);
  void takePieces(int64_t cut);
  void fitStepsToPieces();
  mlir::Value lengthOfPiece();
  mlir::Value presentPiece();
  void enterPiece();
  void emitInPieces(StoreOp into);
  void emitParts(llvm::ArrayRef<mlir::Operation *> ops);
  void inGrid(int64_t along, llvm::function_ref<void()> body);
  AxisMap partMap(mlir::Operation *op) const;
  AxisMap partsMap(mlir::Operation *op, int64_t pieces) const;
  mlir::Value foldToPart(mlir::Operation *scan);
  mlir::Value joinParts(mlir::Operation *op, mlir::Value upTo = {});

  // sizes: chunk_sizes.cpp
  void chooseSizes(bool isFirst) override;
  void fitTiles(MatmulOp product, bool isStored);

  // tiles: chunk_tiles.cpp
  mlir::Value tileOf(mlir::Operation *member);
  mlir::Value operandTile(mlir::Operation *op, unsigned operand);
  mlir::Value tileOf(mlir::Value value, const AxisMap &map);
  mlir::Value cloneElementwise(mlir::Operation *op);
  mlir::Value cloneProduct(mlir::Operation *op);
  mlir::Value cloneScan(mlir::Operation *op);
  mlir::Value fill(mlir::Operation *op, const Access &access);
  mlir::Value load(Access access);
  mlir::Value loadBox(const Access &access, ArrayType type, llvm::ArrayRef<mlir::Value> offsets,
                      llvm::ArrayRef<mlir::Value> lengths, llvm::ArrayRef<mlir::Value> steps,
                      llvm::ArrayRef<int64_t> dropped);
  bool readsStorage(LoadOp load, const Access &access);
  mlir::Value spread(mlir::Value tile, const AxisMap &map);
  mlir::Value fold(mlir::Operation *reduction);
  mlir::Value foldAlong(mlir::Value tile, llvm::StringRef combiner, TileAxis::Role role);
  mlir::Value foldScanned(mlir::Operation *scan);
  mlir::Value identity(llvm::StringRef combiner, mlir::Type elem, const AxisMap &map);
  llvm::SmallVector<mlir::Value> combine(mlir::Operation *reduction,
                                         llvm::ArrayRef<mlir::Value> carried);
  llvm::SmallVector<mlir::Value> begin(mlir::Operation *reduction);
  mlir::Value make(llvm::StringRef name, mlir::Type elem, mlir::ValueRange operands);
  mlir::Value filled(mlir::Value scalar, const AxisMap &map);
  mlir::Value transposed(mlir::Value tile);
  mlir::Value withoutOnes(mlir::Value tile, int64_t kept);

  llvm::SmallVector<Extent> extentsOf(const AxisMap &map) const;
  llvm::SmallVector<mlir::Value> lengthsOf(const AxisMap &map) const;
  ArrayType typeOf(mlir::Type elem, const AxisMap &map) const;
  const Machine *machine_;
  int64_t halvings_;
  bool dealsRows_ = false; ///< the vector cores go on with products of the present group
  unsigned names_ = 0;     ///< of lengths of tiles, so far
  /// What has been computed, innermost loop last: tiles of members, and of operands from elsewhere.
  std::vector<llvm::DenseMap<mlir::Operation *, mlir::Value>> members_;
  std::vector<llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, mlir::Value>> operands_;
  StoreOp into_; ///< where the present group's root goes
  Pieces pieces_;
  int64_t along_ = kWhole;  ///< the axis by which the present grid goes along pieces, if it does
  mlir::Value pieceLength_; ///< of a grid by positions
  mlir::Operation *branch_ = nullptr;                    ///< has an arm for pieces; null: none
  llvm::DenseMap<mlir::Operation *, mlir::Value> parts_; ///< what each piece came to
};

} // namespace ptl::ir
