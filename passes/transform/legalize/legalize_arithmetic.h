// Rewrites of arithmetic.
#pragma once

#include "passes/transform/legalize/legalize.h"

namespace ptl::ir::legalize {

/// The rows of these operations in the table that `legalize.cpp` joins.
llvm::ArrayRef<Row> arithmeticRows();

/// The truncating quotient and the remainder of integers, without a division instruction; {} if
/// that is impossible.
std::pair<mlir::Value, mlir::Value> divideIntegers(const Tiles &t, mlir::Value a, mlir::Value b);

} // namespace ptl::ir::legalize
