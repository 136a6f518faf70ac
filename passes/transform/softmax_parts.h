// A matrix product whose left factor is a softmax of rows, and the operations that it is made of.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

/// The scores, the maximum of each row, their difference, its exponential and the sum of each row;
/// the product is of exponentials or of quotients.
struct SoftmaxParts {
  /// Matches all of it, backwards from the product. False if the form differs, or if other
  /// operations need whole rows.
  bool find() { return findWeights() && usersSuit(); }

  MatmulOp product;
  mlir::Value scores;
  ReduceMaxOp maximum;
  ReduceSumOp sum;
  SubOp difference;
  mlir::Operation *exponential = nullptr;
  mlir::Operation *last = nullptr; ///< the product or the sum, whichever is later
  DivOp quotient;                  ///< null: the product is of exponentials
  /// Conversions after the exponentials or quotients.
  llvm::SmallVector<ConvertOp, 2> conversions;

private:
  bool findWeights();
  bool usersSuit();
};

/// Moves an operation, and the operations of its block that only it needs, to the beginning of a
/// branch's arm after them.
void moveWhatOnlyItNeeds(mlir::Operation *last, mlir::Block *arm);

} // namespace ptl::ir
