// Statements of one side of a `manual kernel`.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// The declarations of buffers and events of a function at the block level, then its statements.
/// What it shares with the other side is added to `byCores`, and called there as it says.
std::string printSide(mlir::func::FuncOp function, SharedByCores &byCores,
                      const GivenArguments &arguments, Unwritable unwritable);

} // namespace ptl::source
