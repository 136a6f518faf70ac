// Loops: what one iteration surely writes, and what all of them do. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

void walkFor(FlowContext &flow, const ForStmt &stmt);
void walkWhile(FlowContext &flow, const WhileStmt &stmt);
/// Checks that the iterations do not touch each other's elements, besides.
void walkParallel(FlowContext &flow, const ParallelStmt &stmt);

} // namespace ptl
