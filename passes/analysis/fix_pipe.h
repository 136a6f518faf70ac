// What the fix pipe of a cube core does to an accumulator on its way to global memory.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

/// A value of zeros: an array or a scalar.
bool isZeroValue(mlir::Value value);

/// What is stored, traced back to the value that the fix pipe takes.
struct FixedOnTheWay {
  mlir::Value source;                          ///< what is stored itself, if nothing is done to it
  llvm::SmallVector<mlir::Operation *, 2> ops; ///< from what is stored back to the source
};

/// The fix pipe replaces negative numbers by 0 and then rounds to a shorter float, each once at
/// most. So these operations are left out between a product and the store of its result, where
/// nobody else reads what they make: `f16(max(p, 0))`, and `max(f16(p), 0)`, which is the same
/// because rounding keeps signs.
FixedOnTheWay throughFixPipe(mlir::Value stored);

/// The operand whose negative numbers this operation replaces by 0; null if it does anything else.
mlir::Value reluOperand(mlir::Operation *op);

} // namespace ptl::ir
