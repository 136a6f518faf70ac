// The base of the emitters of grids, with what all targets have in common: where roots are stored,
// the grid and its attributes, how tiles lie along axes. The emitters differ in what a tile is:
// `PartitionEmitter` makes tiles of all axes of a value for a CPU, whose code generator fuses
// expressions; `ChunkEmitter` makes matrices for a chip, with loops along the other axes and along
// the axes that reductions fold.
#pragma once

#include "passes/transform/groups/op_group.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// How tiles lie along an axis of the space, and where the present one is.
struct TileAxis {
  /// Which axis of a tile that is a matrix runs along it; `Single`: tiles have one position of it.
  enum Role : uint8_t { Single, Row, Col } role = Single;
  int64_t step = 1;           ///< positions of a tile; `kUnknown`: as `stepValue` says when it runs
  mlir::Value stepValue;      ///< null: the number
  bool isChunked = true;      ///< there may be more than one tile
  mlir::Value length;         ///< of the whole axis, or where loops along it end
  mlir::Value begin;          ///< where loops along it begin; null: at its first position
  mlir::Value position, tile; ///< of the present tile, and how many there are of it
  Extent extent;              ///< of the present tile
};

class GridEmitter {
public:
  virtual ~GridEmitter() = default;

  /// Makes one grid for the groups. The first decides about the tiles. Each root is computed into
  /// the box of its only store, else into storage of its own that its users then load.
  void emit();

protected:
  GridEmitter(llvm::ArrayRef<OpGroup *> groups, const TileSizes &sizes, unsigned number);

  /// Sets the axes of the present group, the first one's or one that takes over its tiles.
  virtual void chooseSizes(bool isFirst) = 0;
  /// The axes that the grid goes along.
  virtual llvm::SmallVector<int64_t> gridAxes() const = 0;
  /// What else is said of the grid.
  virtual void mark(ParallelOp) {}
  /// Whether all tiles along an axis have as many positions as its step.
  virtual bool hasEqualTiles(int64_t id) const = 0;
  /// Whether the length of tiles along an axis has a name even where it is always the same number.
  virtual bool isNamed(int64_t) const { return false; }
  /// The name of the length of tiles along an axis, and the place of positions in the source.
  virtual std::string tileName(int64_t id) = 0;
  virtual mlir::Location positionLoc() const { return loc_; }
  /// Computes the root of the present group and stores its results, each by its own store.
  virtual void emitGroup(llvm::ArrayRef<StoreOp> into) = 0;
  /// The stores of a group's root, one for each result.
  using RootStores = llvm::SmallVector<StoreOp, 2>;
  /// Makes the code where the builder is: one grid, unless an emitter knows more ways.
  virtual void emitCode(llvm::ArrayRef<RootStores> stores) { emitGrid(stores); }
  void emitGrid(llvm::ArrayRef<RootStores> stores);
  /// A grid along `gridAxes`; the builder is then in its body, at the position of a point.
  void openGrid();

  /// The axis stands at this position: how much of it is there.
  void place(int64_t id, mlir::Value position);
  /// Where the present tile of a root goes: `ids` has the axis of the space for each of the box, or
  /// `kWhole`.
  struct TileBox {
    llvm::SmallVector<mlir::Value> offsets, lengths, steps;
    llvm::SmallVector<int64_t> ids;
  };
  /// `map` has the axes of what is stored.
  TileBox boxOfTile(StoreOp into, const AxisMap &map);

  TileAxis &axis(int64_t id) { return axes_[static_cast<size_t>(id)]; }
  const TileAxis &axis(int64_t id) const { return axes_[static_cast<size_t>(id)]; }
  mlir::Value constant(int64_t value) {
    return b_.create<mlir::arith::ConstantIndexOp>(loc_, value);
  }

  llvm::ArrayRef<OpGroup *> groups_;
  OpGroup *group_; ///< the one being emitted
  TileSizes sizes_;
  unsigned number_;
  mlir::OpBuilder b_;
  mlir::Location loc_;
  std::vector<TileAxis> axes_;             ///< of the space of the present group
  llvm::SmallVector<mlir::Value> written_; ///< storage that the grid writes
  ParallelOp grid_;

private:
  llvm::SmallVector<RootStores> settle();
};

} // namespace ptl::ir
