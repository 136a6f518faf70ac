// Computes the boxes of arrays that a grid reads and writes, in terms of values that are known
// before the grid. The caller provides the arithmetic: it may emit code, or compute at once.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace ptl::ir {

/// Start, count and step of an axis; without a start: all positions.
struct AxisBounds {
  mlir::OpFoldResult start, count, step;
};

struct RegionBounds {
  bool isWritten = false;
  llvm::SmallVector<AxisBounds, 4> axes;
};

/// Arithmetic on positions.
class PositionArithmetic {
public:
  using Number = mlir::OpFoldResult;
  virtual ~PositionArithmetic() = default;
  virtual Number constant(int64_t value) = 0;
  /// The number for a value from outside the grid; null if it is unknown.
  virtual Number outside(mlir::Value value) = 0;
  virtual Number add(Number x, Number y) = 0;
  virtual Number sub(Number x, Number y) = 0;
  virtual Number mul(Number x, Number y) = 0;
  virtual Number min(Number x, Number y) = 0;
  virtual Number max(Number x, Number y) = 0;
};

/// What arrays from outside a grid stand for.
enum class OutsideArrays : uint8_t {
  Computed, ///< computations that the grid repeats at their uses, or views of their operands
  Stored,   ///< arrays in memory
};

/// The boxes of an array that a grid accesses: in its body, and through outside values that it
/// reads. Loops are covered by the convex hull of their positions.
class GridRegions {
public:
  GridRegions(PositionArithmetic &arithmetic, OutsideArrays outside, mlir::Operation *grid);

  /// The boxes; nothing if they are unknown.
  std::optional<llvm::SmallVector<RegionBounds, 4>> of(mlir::Value array);

  /// The box of a load outside grids.
  static RegionBounds ofLoad(PositionArithmetic &arithmetic, ir::LoadOp load);
  /// The boxes of an array that a store outside grids writes, and those that the stored value
  /// reads.
  static std::optional<llvm::SmallVector<RegionBounds, 4>>
  ofStore(PositionArithmetic &arithmetic, ir::StoreOp store, mlir::Value array);

private:
  using Number = PositionArithmetic::Number;
  struct Range {
    Number low, high; ///< both inclusive
    explicit operator bool() const { return low && high; }
  };
  explicit GridRegions(PositionArithmetic &arithmetic) : a_(arithmetic) {}

  void take(mlir::Operation *op);
  void visitOutside(mlir::Value value);
  bool isOutside(mlir::Value value) const;
  Range rangeOf(mlir::Value value);
  Range rangeOfOp(mlir::Operation *op);
  Range rangeOfPosition(mlir::BlockArgument position);
  /// One past the last position of a range with step 1.
  Number endOf(mlir::Value offset, mlir::Value length);
  Number endOfTail(mlir::Value offset, mlir::Value length);
  AxisBounds axisOf(mlir::Value offset, mlir::Value length, mlir::Value step);
  RegionBounds boxOf(mlir::Operation *op);

  PositionArithmetic &a_;
  OutsideArrays outside_ = OutsideArrays::Computed;
  mlir::Operation *grid_ = nullptr;
  bool isOpaque_ = false;
  llvm::DenseSet<mlir::Value> whole_;             ///< arrays with uses that are not boxes
  llvm::SmallVector<mlir::Operation *> accesses_; ///< loads, stores and slices, each once
  llvm::DenseSet<mlir::Operation *> seen_;
  llvm::DenseMap<mlir::Value, Range> ranges_;
};

} // namespace ptl::ir
