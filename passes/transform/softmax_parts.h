// A matrix product whose left factor is a softmax of rows, and the operations that it is made of.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

/// `scores`, the largest of each row, their difference, its exponential and the sum of each row; the
/// product is of exponentials or of quotients.
struct SoftmaxParts {
  /// Looks for all of it from the product back. False where it is something else, or where something
  /// else needs whole rows.
  bool find() { return findWeights() && usersSuit(); }

  MatmulOp product;
  mlir::Value scores;
  ReduceMaxOp maximum;
  ReduceSumOp sum;
  SubOp difference;
  mlir::Operation *exponential = nullptr;
  mlir::Operation *last = nullptr; ///< the product or the sum
  DivOp quotient;                  ///< null: the product is of exponentials
  /// From the exponentials or quotients on.
  llvm::SmallVector<ConvertOp, 2> conversions;

private:
  bool findWeights();
  bool usersSuit();
};

/// Moves an operation, and what of its block it alone needs, to the beginning of an arm that stands
/// behind them.
void moveWhatOnlyItNeeds(mlir::Operation *last, mlir::Block *arm);

} // namespace ptl::ir
