// Statements of one side of a `manual kernel`.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// Prints the declarations of buffers and events of a function at the block level, then its
/// statements. Queues and events that it shares with the other side are added to `byCores`, and are
/// referred to by their names there.
std::string printSide(mlir::func::FuncOp function, SharedByCores &byCores,
                      const GivenArguments &arguments, Unwritable unwritable);

} // namespace ptl::source
