// What operations and types are to a text, whatever is printed around them.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Operation.h"

namespace ptl::source {

/// The PTL element type of an IR scalar type.
std::string elementText(mlir::Type scalar);
/// Whether a value is this constant, of an integer or index type.
bool isConstant(mlir::Value value, int64_t expected);
/// Whether it is a constant of any dialect.
bool isConstantLike(mlir::Operation *op);
/// Whether it computes positions, lengths or conditions over them from nothing but such.
bool isPositionOp(mlir::Operation *op);
/// Whether its result is its operand under another description, which is written as the operand.
bool isTransparent(mlir::Operation *op);
/// Whether it is an array out of nothing, or all of one: written again wherever it is used.
bool isCheap(mlir::Operation *op);
/// Whether a check is one of bounds or of a conversion, which the builder makes again.
bool isMadeAgain(ir::CheckOp check);

} // namespace ptl::source
