// Finds the source locations and names of operations of a chip's host program.
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

#include <string>

namespace ptl {

/// The location of an operation in the program itself, if the operation comes from something that
/// the program calls.
mlir::Location placeInProgram(mlir::Location location);

/// The name of an array's parameter, output or `let`; empty if it has none.
std::string sourceName(mlir::Value value);

} // namespace ptl
