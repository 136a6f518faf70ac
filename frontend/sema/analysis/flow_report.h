// Reports of the walk. Only for use inside `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

/// Reports outputs that are not definitely assigned at the end of the body, or at a return (`at`).
void checkOutputs(FlowContext &flow, std::optional<Span> at);
/// Reports a read of elements that are definitely, or possibly, uninitialised.
void reportRead(FlowContext &flow, Tracked &tracked, size_t number, const Elements &elements);
/// Reports `atomic` on an output without an initial value.
void reportAtomicStart(FlowContext &flow, const Local *local, const AssignStmt &stmt);
/// Reports a local that `atomic` updates and that is also used otherwise.
void reportAtomicMix(FlowContext &flow, const Local *local, const AtomicUse &use);

} // namespace ptl
