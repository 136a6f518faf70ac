// The base of the emitters of grids, with what all targets have in common: where roots are stored,
// the grid and its attributes, the tiling of axes. The emitters differ in the form of tiles:
// `PartitionEmitter` makes tiles over all axes of a value for a CPU, whose code generator fuses
// expressions; `ChunkEmitter` makes matrices for a chip, with loops over the other axes and over
// the axes that reductions reduce.
#pragma once

#include "passes/transform/groups/op_group.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// The tiling of an axis of the space, and the position of the present tile.
struct TileAxis {
  /// The axis of a matrix tile that corresponds to this axis; `Single`: tiles have one position of
  /// it.
  enum Role : uint8_t { Single, Row, Col } role = Single;
  int64_t step = 1;           ///< positions per tile; `kUnknown`: `stepValue` gives it at run time
  mlir::Value stepValue;      ///< null: the constant `step`
  bool isChunked = true;      ///< there may be more than one tile
  mlir::Value length;         ///< of the whole axis, or the end of the loops over it
  mlir::Value begin;          ///< the start of the loops over it; null: 0
  mlir::Value position, tile; ///< of the present tile: its position and its length
  Extent extent;              ///< of the present tile
};

class GridEmitter {
public:
  virtual ~GridEmitter() = default;

  /// Makes one grid for the groups. The leading one determines the tiles. Each root is computed into the
  /// box of its only store, otherwise into storage of its own that its users then load.
  void emit();

protected:
  GridEmitter(llvm::ArrayRef<OpGroup *> groups, const TileSizes &sizes, unsigned number);

  /// Sets the axes of the present group: of the leading one (`isFirst`), or of one that takes over its tiles.
  virtual void chooseSizes(bool isFirst) = 0;
  /// The axes that are axes of the grid.
  virtual llvm::SmallVector<int64_t> gridAxes() const = 0;
  /// Adds further attributes to the grid.
  virtual void mark(ParallelOp) {}
  /// Whether all tiles along an axis are full: none is shorter than the step.
  virtual bool hasEqualTiles(int64_t id) const = 0;
  /// Whether the length of tiles along an axis has a name even if it is always the same constant.
  virtual bool isNamed(int64_t) const { return false; }
  /// The name of the length of tiles along an axis, and the source location of its positions.
  virtual std::string tileName(int64_t id) = 0;
  virtual mlir::Location positionLoc() const { return loc_; }
  /// Computes the root of the present group, and stores each of its results and each member that is stored by the corresponding store.
  virtual void emitGroup(llvm::ArrayRef<StoreOp> into) = 0;
  /// The stores of a group's root, one for each result, and those of members that are stored, too.
  using RootStores = llvm::SmallVector<StoreOp, 2>;
  /// Emits the code at the builder's insertion point: one grid, unless a derived emitter overrides
  /// it.
  virtual void emitCode(llvm::ArrayRef<RootStores> stores) { emitGrid(stores); }
  void emitGrid(llvm::ArrayRef<RootStores> stores);
  /// Opens a grid over `gridAxes`; the builder is then in its body, at the position of a point.
  void openGrid();

  /// Sets the position of the present tile along the axis, and computes its length.
  void place(int64_t id, mlir::Value position);
  /// The box of storage for the present tile of a root; `ids` has the axis of the space for each of
  /// its axes, or `kWhole`.
  struct TileBox {
    llvm::SmallVector<mlir::Value> offsets, lengths, steps;
    llvm::SmallVector<int64_t> ids;
  };
  /// `map` has the axes of the stored value.
  TileBox boxOfTile(StoreOp into, const AxisMap &map);

  TileAxis &axis(int64_t id) { return axes_[static_cast<size_t>(id)]; }
  const TileAxis &axis(int64_t id) const { return axes_[static_cast<size_t>(id)]; }
  mlir::Value constant(int64_t value) {
    return b_.create<mlir::arith::ConstantIndexOp>(loc_, value);
  }

  llvm::ArrayRef<OpGroup *> groups_;
  OpGroup *lead_;  ///< whose tiles are those of all
  OpGroup *group_; ///< the present group
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
