// Events: each group of numbers is declared once; the reasons of synchronisation follow the
// declaration as a comment.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// Finds the events of the function; those between cores are added to the shared names. Numbers
/// that cannot be expressed are reported as unwritable.
void collectEvents(BlockCode &code);

/// Chooses a name for each event, and prints the declarations.
void declareEvents(BlockCode &code);

/// Prints an operation that signals or waits. Returns false, and prints nothing, for any other.
bool printSynchronisation(BlockCode &code, mlir::Operation *op);

} // namespace ptl::source
