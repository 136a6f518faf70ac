// Events: declared once for each group of numbers; the reasons stand behind the declaration.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// Finds the events of the function, those between cores in what both sides share. Numbers that
/// cannot be written are noted as such.
void collectEvents(BlockCode &code);

/// Gives each event a name, and prints the declarations.
void declareEvents(BlockCode &code);

/// Prints an operation that signals or waits. Returns false for any other, of which it prints
/// nothing.
bool printSynchronisation(BlockCode &code, mlir::Operation *op);

} // namespace ptl::source
