// Checks that elements are initialised before they are read.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Stops the run if an element of `value`, which is read at `span`, was never written; the message
/// names the first such element.
void checkWritten(const RunState &run, const Value &value, Span span);

} // namespace ptl::reference
