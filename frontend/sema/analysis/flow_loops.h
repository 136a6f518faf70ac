// Loops: what one iteration definitely writes, and what all of them do. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

void walkFor(FlowContext &flow, const ForStmt &stmt);
void walkWhile(FlowContext &flow, const WhileStmt &stmt);
/// Walks the body as for any loop, and checks that iterations do not touch each other's elements.
void walkParallel(FlowContext &flow, const ParallelStmt &stmt);

} // namespace ptl
