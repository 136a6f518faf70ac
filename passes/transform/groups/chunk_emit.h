// A grid for groups of tensor operations whose tiles have two axes (rows and columns): other axes
// of the space are gone along one position at a time, and an axis that a reduction folds in chunks.
#pragma once

#include "passes/transform/groups/chunk_group.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ptl::ir {

struct ChunkSizes {
  int64_t productM, productN; ///< tile of a product
  int64_t bytes;              ///< of the largest tile of other groups

  /// For tiles of half the size, so many times.
  ChunkSizes halved(int64_t times) const {
    return {productM >> (times / 2), productN >> ((times + 1) / 2), bytes >> times};
  }
};

/// What the emitter knows of an axis of the space.
struct ChunkAxis {
  enum Role : uint8_t { Single, Row, Col } role = Single;
  int64_t step = 1;
  bool isChunked = true; ///< there may be more than one chunk
  mlir::Value length, position, tile;
  Extent extent; ///< of the present chunk
};

/// Decides which axes of the group are the rows and columns of its tiles, and how long chunks are.
/// `groups`: all that share the grid; `axes`: by number, those of `group`.
void chooseChunks(llvm::ArrayRef<ChunkGroup *> groups, ChunkGroup &group, const ChunkSizes &sizes,
                  std::vector<ChunkAxis> &axes);
/// A size that a schedule gives for an axis of a group: `tile B by 128`.
std::optional<int64_t> scheduledStep(const ChunkGroup &group, int64_t id);

class ChunkEmitter {
public:
  ChunkEmitter(llvm::ArrayRef<ChunkGroup *> groups, const ChunkSizes &sizes, unsigned number)
      : groups_(groups), group_(groups.front()), sizes_(sizes), number_(number),
        b_(groups.front()->root()->getContext()), loc_(groups.front()->root()->getLoc()) {}

  /// Computes each root into the box of its only store, else into storage of its own that its users
  /// then load.
  void emit();

private:
  using Loops = llvm::SmallVector<int64_t>;

  // the grid and its loops: chunk_emit.cpp
  void emitGroup(StoreOp into);
  void openGrid();
  void place(int64_t id, mlir::Value position);
  void inLoops(llvm::ArrayRef<int64_t> ids, mlir::ValueRange carried,
               llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body,
               llvm::SmallVectorImpl<mlir::Value> &results);
  void hoist(mlir::Operation *op, llvm::ArrayRef<int64_t> ids,
             llvm::DenseSet<mlir::Operation *> &seen);
  void emitReductions();
  void reduceTogether(llvm::ArrayRef<mlir::Operation *> reductions);
  void storeRoot(StoreOp into);
  void storeScan(StoreOp into, llvm::ArrayRef<int64_t> ids);
  void storeTile(mlir::Value tile, StoreOp into);
  Loops chunked(llvm::ArrayRef<int64_t> ids) const;

  // sizes: chunk_sizes.cpp
  void chooseSizes();

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
  ChunkAxis &axis(int64_t id) { return axes_[static_cast<size_t>(id)]; }
  const ChunkAxis &axis(int64_t id) const { return axes_[static_cast<size_t>(id)]; }
  mlir::Value constant(int64_t value) {
    return b_.create<mlir::arith::ConstantIndexOp>(loc_, value);
  }

  llvm::ArrayRef<ChunkGroup *> groups_;
  ChunkGroup *group_; ///< the one being emitted
  ChunkSizes sizes_;
  unsigned number_, names_ = 0;
  mlir::OpBuilder b_;
  mlir::Location loc_;
  std::vector<ChunkAxis> axes_;
  /// What has been computed, innermost loop last: tiles of members, and of operands from elsewhere.
  std::vector<llvm::DenseMap<mlir::Operation *, mlir::Value>> members_;
  std::vector<llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, mlir::Value>> operands_;
  StoreOp into_;                           ///< where the present group's root goes
  llvm::SmallVector<mlir::Value> written_; ///< storage that the grid writes
  mlir::Operation *gridOp_ = nullptr;
};

} // namespace ptl::ir
