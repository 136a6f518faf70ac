// Loops that sum up products: `for i in 0..9 { acc += a(i) @ b(i) }`, including nested loops.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace ptl::ir {

/// A nest of loops that carries one array, adds one product to it in each iteration, and otherwise
/// computes only operands.
struct SumLoops {
  llvm::SmallVector<mlir::scf::ForOp> loops; ///< from the outermost to the innermost
  MatmulOp product;
  AddOp add;
  CastOp cast; ///< of the sum to the place of the carried value; may be null

  /// Nothing if the loop has another form.
  static std::optional<SumLoops> of(mlir::scf::ForOp outermost);

  /// Whether an operation of the innermost body belongs to the sum, and not to an operand.
  bool sums(mlir::Operation *op) const { return op == product || op == add || op == cast; }
  bool isFromOutside(mlir::Value value) const {
    mlir::scf::ForOp outermost = loops.front();
    return outermost.isDefinedOutsideOfLoop(value);
  }
  /// Whether the trip count of each loop is known before the outermost one begins.
  bool hasNumberedRounds() const;
  /// Whether an operand is a part of an array from before the loops, or read from memory that they
  /// do not write, so that an iteration computes nothing for it. Such arrays are added to `arrays`.
  bool isPart(mlir::Value operand, llvm::SmallVectorImpl<mlir::Value> &arrays) const;
  /// The left operand before its first two axes were put together, and the right one before its last two were, if it is such a matrix of
  /// an array of three axes; else null.
  mlir::Value linesOfLeft() const;
  mlir::Value linesOfRight() const;
  /// The length of an axis of a value in the loops, as a value from before the loops; null if there
  /// is none. The builder's insertion point may be moved.
  mlir::Value lengthBefore(mlir::OpBuilder &builder, mlir::Value value, int64_t axis) const;
};

} // namespace ptl::ir
