// Loops: what one iteration definitely writes, and what all of them write. Only for use inside
// `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

void walkFor(FlowContext &flow, const ForStmt &stmt);
void walkWhile(FlowContext &flow, const WhileStmt &stmt);
/// Walks the body as for any loop, and checks that iterations access disjoint elements.
void walkParallel(FlowContext &flow, const ParallelStmt &stmt);

} // namespace ptl
