// What the walk found, in words. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

/// Reports outputs that are not covered where the body ends, or returns (`at`).
void checkOutputs(FlowContext &flow, std::optional<Span> at);
/// Reports a read of what definitely, or possibly, has no value.
void reportRead(FlowContext &flow, Tracked &tracked, size_t number, const Elements &elements);
/// Reports `atomic` on an output without a value to start from.
void reportAtomicStart(FlowContext &flow, const Local *local, const AssignStmt &stmt);
/// Reports a local that `atomic` updates and something else uses.
void reportAtomicMix(FlowContext &flow, const Local *local, const AtomicUse &use);

} // namespace ptl
