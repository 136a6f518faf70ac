// Assigns the values that a block yields to variables.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// Assigns `values`, as they are at `at`, to the variables that hold `targets`, as if simultaneously.
void printAssignments(BodyCode &code, mlir::Operation *at, mlir::ValueRange targets,
                      mlir::ValueRange values);

/// Assigns the operands of the block's terminator to the variables that hold `targets`, as if
/// simultaneously, and closes the block.
void printYield(BodyCode &code, mlir::Block &block, mlir::ValueRange targets);

} // namespace ptl::source
