// Decides what is written where it is used, and what gets a `let`.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// Whether an operation is written where it is used: it is used once, in the same block, what it
/// reads is the same there, and it has no name in the source. Positions, constants and what costs
/// nothing are written again at each use. The answer is kept in the memo of the text.
bool isInlined(BodyCode &code, mlir::Operation *op);

} // namespace ptl::source
