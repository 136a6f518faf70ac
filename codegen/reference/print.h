// The built-in `print`.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Passes one line, a text and the values separated by spaces, to the callback of the options,
/// otherwise to standard output.
void printLine(std::string line, std::span<const Value> values, const RunOptions &options);
void evalPrint(RunState &run, const OpExpr &expr);

} // namespace ptl::reference
