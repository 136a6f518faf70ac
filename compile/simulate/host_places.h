// Where the source has what the host program of a chip does, and what it calls it.
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

#include <string>

namespace ptl {

/// Where the program itself has an operation that it may have from something that it calls.
mlir::Location placeInProgram(mlir::Location location);

/// The name of an array's parameter, output or `let`; empty if it has none.
std::string sourceName(mlir::Value value);

} // namespace ptl
