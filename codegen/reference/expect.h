// The expectations of tests. One that fails is noted in the run, which goes on.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// `expect(condition)`, with a text that says what failed.
void evalExpect(RunState &run, const OpExpr &expr);

/// `expect_equal`: the same elements, where NaN equals NaN; operands repeat to one shape.
void evalExpectEqual(RunState &run, const OpExpr &expr);

/// `expect_close`: each element within the tolerances; the message names the largest error.
void evalExpectClose(RunState &run, const OpExpr &expr);

} // namespace ptl::reference
