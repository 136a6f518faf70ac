// Classifies operations and types for printing, independent of the context.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Operation.h"

namespace ptl::source {

/// The PTL element type of an IR scalar type.
std::string elementText(mlir::Type scalar);
/// Whether a value is this constant, of an integer or index type.
bool isConstant(mlir::Value value, int64_t expected);
/// Whether the operation is a constant of any dialect.
bool isConstantLike(mlir::Operation *op);
/// Whether the operation computes positions, lengths or conditions on them, from such values only.
bool isPositionOp(mlir::Operation *op);
/// Whether the result is the operand with another type or description, so that it is printed as the
/// operand.
bool isTransparent(mlir::Operation *op);
/// Whether the operation creates an array from nothing or returns a whole one: it is repeated at
/// each use.
bool isCheap(mlir::Operation *op);
/// Whether a check is one of bounds or of a conversion, which the builder generates again from the
/// text.
bool isMadeAgain(ir::CheckOp check);

} // namespace ptl::source
