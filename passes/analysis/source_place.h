// Finds the place in the source that an operation came from, and its name there.
#pragma once

#include "passes/analysis/buffer_ledger.h"

#include "mlir/IR/Location.h"

namespace ptl::block {

/// The location in the kernel's file. For code that was inlined from a callee it is the location of
/// the call.
LedgerPlace placeOf(mlir::Location location);
/// The name in the location; empty if it has none.
std::string nameOf(mlir::Location location);
/// The location without its name.
mlir::Location withoutName(mlir::Location location);

} // namespace ptl::block
