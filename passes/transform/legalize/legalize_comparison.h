// Rewrites of comparisons and masks.
#pragma once

#include "passes/transform/legalize/legalize.h"

namespace ptl::ir::legalize {

/// The rows of these operations in the table that `legalize.cpp` joins.
llvm::ArrayRef<Row> comparisonRows();

/// Converts booleans to the numbers 1 and 0 (`f16` by default), and back.
mlir::Value maskToNumbers(const Tiles &t, mlir::Value mask, mlir::Type elem = {});
mlir::Value numbersToMask(const Tiles &t, mlir::Value numbers);
/// For an instruction that needs operands of full size: the elementwise operation with its smaller
/// operands broadcast; null if there are none.
mlir::Value withFullOperands(const Tiles &t, mlir::Operation *op);
/// Bit operations on truth values.
mlir::Value rewriteMaskOp(const Tiles &t, mlir::Operation *op);
/// Whether a rewrite narrowed `value` after it was computed.
bool isNarrowed(mlir::Value value);

} // namespace ptl::ir::legalize
