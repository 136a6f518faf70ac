// Computes a part of a value along an axis, inside of a block. Elementwise operations and products are computed again for the part
// alone, so the whole value is dead if nothing else uses it. From any other value the part is sliced.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace ptl::ir {

/// The type with another extent along an axis, in memory of its own.
mlir::Type withExtent(mlir::Type type, size_t axis, const Extent &extent);
/// The operation once more, on other operands and with another type of its only result.
mlir::Value cloneWith(mlir::OpBuilder &builder, mlir::Operation *op,
                      llvm::ArrayRef<mlir::Value> operands, mlir::Type type);
/// The positions `offset`, ..., `offset + length - 1` along an axis of a value.
mlir::Value cutAlong(mlir::OpBuilder &builder, mlir::Value value, size_t axis, mlir::Value offset,
                     mlir::Value length, const Extent &extent);

/// The same positions along an axis of several values.
class AxisPart {
public:
  /// Code goes where the builder stands whenever a part is asked for; `block` has the operations
  /// that may be done anew. A null offset is 0.
  AxisPart(mlir::OpBuilder &builder, mlir::Block *block, mlir::Value offset, mlir::Value length,
           const Extent &extent)
      : b_(builder), block_(block), offset_(offset), length_(length), extent_(extent) {}

  /// The part of a value along its axis. One position is for all, so there it is the value.
  mlir::Value of(mlir::Value value, size_t axis);
  /// Says what the part of a value is.
  void set(mlir::Value value, mlir::Value part) { known_[value] = part; }
  mlir::Value known(mlir::Value value) const { return known_.lookup(value); }
  const Extent &extent() const { return extent_; }

private:
  mlir::Value ofOperation(mlir::Operation *op, size_t axis);

  mlir::OpBuilder &b_;
  mlir::Block *block_;
  mlir::Value offset_, length_;
  Extent extent_;
  llvm::DenseMap<mlir::Value, mlir::Value> known_;
};

} // namespace ptl::ir
