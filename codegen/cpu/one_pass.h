// Values that one loop over elements computes in registers, once per element, however many uses
// they have there.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// A loop over the elements of pending values with the same extents.
struct OnePass {
  OnePass(Lowering &l, mlir::ValueRange arrays);
  /// A loop that reads the value for some other result, so that the value itself is prepared like
  /// any operand.
  static OnePass reading(Lowering &l, mlir::Value array);

  /// Elementwise operations that the loop computes in registers: the values' own operations, and
  /// the operations inside them that only such operations read. The loop has each of their elements
  /// at one position only and computes it once (`elementAt`).
  llvm::DenseSet<mlir::Operation *> operations;
  llvm::DenseSet<mlir::Operation *> prepared; ///< those of `operations` that are prepared

private:
  void leaveLongOnes(llvm::ArrayRef<mlir::Operation *> ordered,
                     const llvm::DenseSet<mlir::Operation *> &roots);
};

} // namespace ptl::cpu
