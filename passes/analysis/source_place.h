// Where in the source an operation came from, and the name it has there.
#pragma once

#include "passes/analysis/buffer_ledger.h"

#include "mlir/IR/Location.h"

namespace ptl::block {

/// The place in the file of the kernel: for what was built in place of a call, that of the call.
LedgerPlace placeOf(mlir::Location location);
/// The name in the location; empty if it has none.
std::string nameOf(mlir::Location location);
/// The place alone.
mlir::Location withoutName(mlir::Location location);

} // namespace ptl::block
