// Computes a part of a value along one of its axes, from parts of the operands.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace ptl::block {

/// The length of each part: as a value, and in types.
struct PartLength {
  mlir::Value length;
  ir::Extent extent;
};

/// The cost of computing a value part by part.
struct PartCost {
  int64_t largest = 0;         ///< bytes of the largest value that exists in parts only
  mlir::Value tile;            ///< that value, or one with a name and at least half its size
  int64_t kept = 0;            ///< bytes of tiles that exist as a whole all the same
  int64_t count = 0;           ///< operations that are executed part by part
  bool cutsConditions = false; ///< parts are cut out of conditions, which are packed bits
};

/// The bytes of an array on chip; nothing if an extent has no static bound.
std::optional<int64_t> tileBytes(mlir::Type type);

/// Makes parts of values of a grid at `anchor`. Loads, constants and operations that compute each
/// position independently are repeated for the part; other values are sliced.
class PartMaker {
public:
  PartMaker(ir::ParallelOp grid, mlir::Operation *anchor) : grid_(grid), anchor_(anchor) {}

  /// The cost of `make`, without doing it. The value itself is not counted.
  PartCost costOf(mlir::Value value, int64_t axis);
  /// Whether a part of the value is computed, rather than sliced from the whole value.
  bool isMade(mlir::Value value, int64_t axis) { return kindOf(value, axis, false) != Kind::Cut; }
  /// The part of `value` that begins at `offset` of `axis`.
  mlir::Value make(mlir::OpBuilder &builder, mlir::Value value, int64_t axis, mlir::Value offset,
                   const PartLength &part);

private:
  /// How a part is made. `Positions` is for a take, along the axis from which it takes.
  enum class Kind { Cut, Load, Slice, Fill, Positions, Take, Concat, Mapped };

  Kind kindOf(mlir::Value value, int64_t axis, bool shifted);
  bool mayLoadHere(ir::LoadOp load, int64_t axis, bool shifted);
  void addCost(mlir::Value value, int64_t axis, bool shifted, PartCost &cost);
  mlir::Value cutOut(mlir::Value value, int64_t axis, mlir::Value offset);
  mlir::Value makeNew(Kind kind, mlir::Value value, int64_t axis, mlir::Value offset);
  mlir::Value boxOffset(mlir::Operation *op, int64_t axis, mlir::Value offset);
  mlir::Value boxOf(mlir::Operation *op, int64_t axis, mlir::Value source, mlir::Value begin);
  mlir::Value fill(mlir::Operation *op, int64_t axis, mlir::Value offset);
  mlir::Value clone(mlir::Operation *op, int64_t axis, mlir::ValueRange operands);
  mlir::Value partOf(mlir::Value value, int64_t axis, mlir::Value offset);
  mlir::Value sum(mlir::Value a, mlir::Value b, mlir::Location loc);
  mlir::Type typeOf(mlir::Value value, int64_t axis) const;

  ir::ParallelOp grid_;
  mlir::Operation *anchor_;
  mlir::OpBuilder *b_ = nullptr;
  PartLength part_;
  mlir::Value offset_;  ///< that of the requested value
  int64_t ownAxis_ = 0; ///< the axis of the requested value
  llvm::DenseMap<std::pair<mlir::Value, int64_t>,
                 llvm::SmallVector<std::pair<mlir::Value, mlir::Value>, 1>>
      made_; ///< by offset
  llvm::DenseSet<std::pair<mlir::Value, int64_t>> counted_;
};

} // namespace ptl::block
