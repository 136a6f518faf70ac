// Elements that nothing has written have no value.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Stops the run when an element of `value`, which is read at `span`, was never written; says which
/// is the first.
void checkWritten(const RunState &run, const Value &value, Span span);

} // namespace ptl::reference
