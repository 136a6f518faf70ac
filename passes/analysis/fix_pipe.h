// Operations that the fix pipe of a cube core applies to an accumulator on its way to global
// memory.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

/// Whether all elements of an array, or a scalar, are zero.
bool isZeroValue(mlir::Value value);

/// A stored value, traced back to the value that the fix pipe reads.
struct FixedOnTheWay {
  /// the stored value itself, if the fix pipe does nothing
  mlir::Value source;
  llvm::SmallVector<mlir::Operation *, 2> ops; ///< from the stored value back to the source
};

/// The fix pipe replaces negative numbers by 0 and then rounds to a shorter float, each at most
/// once. So these operations are skipped between a product and the store of its result, if their
/// results have no other use: `f16(max(p, 0))`, and also `max(f16(p), 0)`, which is equal because
/// rounding preserves signs.
FixedOnTheWay throughFixPipe(mlir::Value stored);

/// The operand of which this operation replaces negative numbers by 0; null for other operations.
mlir::Value reluOperand(mlir::Operation *op);

} // namespace ptl::ir
