// Variables, and fields of variables, that expressions name.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The variable, or field of one, that an expression names, for reading without a copy; null if it
/// names none.
const Value *peek(RunState &run, const Expr &expr);

/// The same for writing: data that is shared with other values is copied first (copy on write). The
/// run stops if the expression names no variable.
Value &place(RunState &run, const Expr &expr);

} // namespace ptl::reference
