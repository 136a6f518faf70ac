// Emits the grid of a group of tensor operations whose tiles have two axes, rows and columns. Loops
// iterate over the other axes of the space one position at a time, and in chunks over an axis that
// a reduction reduces.
#pragma once

#include "passes/transform/groups/grid_emitter.h"
#include "passes/transform/groups/product_tiles.h"

namespace ptl::ir {

/// The reductions of a group by level: none depends on others in its list, or in later lists.
std::vector<llvm::SmallVector<mlir::Operation *>> reductionsByLevel(const OpGroup &group);

class ChunkEmitter : public GridEmitter {
public:
  /// `machine`: its costs and cores determine the tiles of products that its cube cores store
  /// themselves, or pass to the vector cores in slices; null: `sizes` do. `halvings`: how often the
  /// tiles are halved because larger ones did not fit.
  ChunkEmitter(llvm::ArrayRef<OpGroup *> groups, const TileSizes &sizes, unsigned number,
               const Machine *machine, int64_t halvings)
      : GridEmitter(groups, sizes, number), machine_(machine), halvings_(halvings) {}

protected:
  using Loops = llvm::SmallVector<int64_t>;

  // the grid and its loops: chunk_emit.cpp
  void emitGroup(llvm::ArrayRef<StoreOp> into) override;
  llvm::SmallVector<int64_t> gridAxes() const override;
  bool hasEqualTiles(int64_t id) const override;
  bool isNamed(int64_t id) const override;
  std::string tileName(int64_t id) override;
  virtual void inLoops(llvm::ArrayRef<int64_t> ids, mlir::ValueRange carried,
                       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body,
                       llvm::SmallVectorImpl<mlir::Value> &results);
  void hoist(mlir::Operation *op, llvm::ArrayRef<int64_t> ids,
             llvm::DenseSet<mlir::Operation *> &seen);
  void reduceLevel(llvm::ArrayRef<mlir::Operation *> reductions);
  void reduceTogether(llvm::ArrayRef<mlir::Operation *> reductions);
  /// `before`: the initial value of a scan; null: the identity element.
  void storeRoot(StoreOp into, mlir::Value before = {});
  void storeScan(StoreOp into, llvm::ArrayRef<int64_t> ids, mlir::Value before);
  /// Stores members of the present group: those with the axes of its root, or the others.
  void storeMembers(bool likeRoot);
  void storeTile(mlir::Value tile, StoreOp into, const AxisMap &map);
  Loops chunked(llvm::ArrayRef<int64_t> ids) const;

  // sizes: chunk_sizes.cpp
  void chooseSizes(bool isFirst) override;
  void fitTiles(MatmulOp product, bool isStored);
  void dealStrip();

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
  mlir::Value withoutOnes(mlir::Value tile, int64_t kept);

  llvm::SmallVector<Extent> extentsOf(const AxisMap &map) const;
  llvm::SmallVector<mlir::Value> lengthsOf(const AxisMap &map) const;
  ArrayType typeOf(mlir::Type elem, const AxisMap &map) const;
  const Machine *machine_;
  int64_t halvings_;
  bool dealsRows_ = false; ///< the vector cores continue with products of the present group
  unsigned names_ = 0;     ///< number of names for lengths of tiles so far
  /// The tiles computed so far, innermost loop last: tiles of members, and of operands from outside
  /// the group.
  std::vector<llvm::DenseMap<mlir::Operation *, mlir::Value>> members_;
  std::vector<llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, mlir::Value>> operands_;
  StoreOp into_;                            ///< the destination of the present group's root
  llvm::SmallVector<StoreOp> memberStores_; ///< the destinations of its members that are stored
  /// the branch of which the present grid is in an arm; may be null
  mlir::Operation *branch_ = nullptr;
};

} // namespace ptl::ir
