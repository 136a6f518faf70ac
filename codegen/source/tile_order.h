// Finds the values that need a name so that the text is evaluated in the order of the IR:
// expressions are evaluated where they are printed, operands from left to right.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// Adds to the text's memo which operations must not be printed inline, because that would change
/// the order of evaluation. To be called before anything of the block is printed.
void nameByOrder(BodyCode &code, mlir::Block &block);

} // namespace ptl::source
