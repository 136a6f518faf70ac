// Instructions as calls by their mnemonics.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// Prints an instruction: results, operands, attributes.
void printInstruction(BlockCode &code, mlir::Operation *op);

/// A scalar that an instruction takes: a literal takes its type from the element type of the tiles,
/// null if there are none.
Expression scalarOperandText(BlockCode &code, mlir::Value scalar, mlir::Type element);

} // namespace ptl::source
