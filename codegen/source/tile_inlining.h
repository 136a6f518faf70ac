// Decides which operations are printed inline at their use, and which get a `let`.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// Whether an operation is printed inline: it has one use, in the same block, the memory it reads
/// is unchanged there, and it has no name in the source. Positions, constants and operations
/// without cost are repeated at each use. The answer is cached in the text's memo.
bool isInlined(BodyCode &code, mlir::Operation *op);

} // namespace ptl::source
