// Assigns what a block passes on to the variables that have it afterwards.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// Assigns the operands of the block's terminator to the variables by which `targets` are known, as
/// if at once, and closes the block.
void printYield(BodyCode &code, mlir::Block &block, mlir::ValueRange targets);

} // namespace ptl::source
