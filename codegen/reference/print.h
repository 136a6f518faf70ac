// The built-in `print`.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Gives one line, the text and the values with spaces between, to whom the options name, else to
/// the standard output.
void evalPrint(RunState &run, const OpExpr &expr);

} // namespace ptl::reference
