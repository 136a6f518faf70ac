// What one loop over elements computes in registers, however often it is read there.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// A loop over the elements of pending values with the same extents.
struct OnePass {
  OnePass(Lowering &l, mlir::ValueRange arrays);
  /// A loop that reads the value for something else, so that the value itself is prepared as others need it.
  static OnePass reading(Lowering &l, mlir::Value array);

  /// The operations inside of the values that are elementwise and that only each other read, or the values' own operations: the loop has each of
  /// their elements at one position, and computes it once (`elementAt`).
  llvm::DenseSet<mlir::Operation *> operations;
  llvm::DenseSet<mlir::Operation *> prepared; ///< of these

private:
  void leaveLongOnes(llvm::ArrayRef<mlir::Operation *> ordered,
                     const llvm::DenseSet<mlir::Operation *> &roots);
};

} // namespace ptl::cpu
