// Finds the values that need a name so that the text computes everything in the order of the IR:
// expressions are computed where they are written, operands from left to right.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// Adds to the memo of the text what must not be written in others for its order. Called before
/// anything of the block is printed.
void nameByOrder(BodyCode &code, mlir::Block &block);

} // namespace ptl::source
