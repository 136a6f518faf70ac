// Calls: evaluates a call expression, including the callee.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Evaluates a call: binds the callee, executes it here or, in the body of a test, by the options'
/// `CallHandler`, and assigns `inout` arguments their new values.
Value evalCall(RunState &run, const CallExpr &expr);

/// Checks the requirements of the frame's declaration and executes its body. Parameters, dimensions
/// and tunables are bound. The result is what a `fn` returns or the outputs of a kernel or program:
/// none, one, or a tuple of several. `span` is the call; `kNoSpan` for an entry.
Value runCallee(RunState &run, const CallableDecl &decl, Span span);

} // namespace ptl::reference
