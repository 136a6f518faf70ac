// The built-in `print`.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Passes one line, the text and the values separated by spaces, to the callback of the options,
/// otherwise to standard output.
void evalPrint(RunState &run, const OpExpr &expr);

} // namespace ptl::reference
