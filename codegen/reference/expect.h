// The expectations of tests. A failed one is recorded in the run, which continues.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// `expect(condition)`; the argument's text is part of the failure's message.
void evalExpect(RunState &run, const OpExpr &expr);

/// `expect_equal`: all elements must be equal, where NaN equals NaN; operands are broadcast to one
/// shape.
void evalExpectEqual(RunState &run, const OpExpr &expr);

/// `expect_close`: each element must be within the tolerances; the message states the largest
/// error.
void evalExpectClose(RunState &run, const OpExpr &expr);

} // namespace ptl::reference
