// Computes a part of a value along an axis, inside a block. Elementwise operations and products are
// recomputed for the part, so the whole value is dead if it has no other use. The part of any other
// value is a slice.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace ptl::ir {

/// The type with another extent along an axis, dense.
mlir::Type withExtent(mlir::Type type, size_t axis, const Extent &extent);
/// Clones the operation with other operands and another type of its only result.
mlir::Value cloneWith(mlir::OpBuilder &builder, mlir::Operation *op,
                      llvm::ArrayRef<mlir::Value> operands, mlir::Type type);
/// The positions `offset`, ..., `offset + length - 1` along an axis of a value.
mlir::Value cutAlong(mlir::OpBuilder &builder, mlir::Value value, size_t axis, mlir::Value offset,
                     mlir::Value length, const Extent &extent);

/// The same range of positions along an axis of several values.
class AxisPart {
public:
  /// Code is emitted at the builder's insertion point at the time of a request; `block` contains
  /// the operations that may be recomputed. A null offset is 0.
  AxisPart(mlir::OpBuilder &builder, mlir::Block *block, mlir::Value offset, mlir::Value length,
           const Extent &extent)
      : b_(builder), block_(block), offset_(offset), length_(length), extent_(extent) {}

  /// The part of a value along its axis. If the extent is 1, it is broadcast, so the part is the
  /// whole value.
  mlir::Value of(mlir::Value value, size_t axis);
  /// Sets the part of a value along an axis.
  void set(mlir::Value value, size_t axis, mlir::Value part) { known_[{value, axis}] = part; }
  mlir::Value known(mlir::Value value, size_t axis) const { return known_.lookup({value, axis}); }
  const Extent &extent() const { return extent_; }

private:
  mlir::Value ofOperation(mlir::Operation *op, size_t axis);

  mlir::OpBuilder &b_;
  mlir::Block *block_;
  mlir::Value offset_, length_;
  Extent extent_;
  /// By value and axis: a square may be needed in parts along both of its axes.
  llvm::DenseMap<std::pair<mlir::Value, size_t>, mlir::Value> known_;
};

} // namespace ptl::ir
