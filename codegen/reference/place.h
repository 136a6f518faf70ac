// Variables, and fields of them, that expressions name.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The variable, or field of one, that an expression names, for reading without a copy; null when it
/// names none.
const Value *peek(RunState &run, const Expr &expr);

/// The same for writing, without what it shared with other values; the run stops when the expression
/// names none.
Value &place(RunState &run, const Expr &expr);

} // namespace ptl::reference
