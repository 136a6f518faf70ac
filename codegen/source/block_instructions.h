// Instructions as calls by their mnemonics.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// Prints an instruction: results, operands, attributes.
void printInstruction(BlockCode &code, mlir::Operation *op);

/// A scalar operand of an instruction. A literal takes its type from `element`, the element type of
/// the tiles, which is null if there are none.
Expression scalarOperandText(BlockCode &code, mlir::Value scalar, mlir::Type element);

} // namespace ptl::source
