// Walks statements in program order. Only for use inside `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

/// Walks the statements of a block, if there is one, and its value.
void walkBlock(FlowContext &flow, const Block *block);
/// Walks both branches of a condition, each with the facts that hold there, and merges their
/// states.
void walkArms(FlowContext &flow, const Expr *condition, const Block *thenBlock,
              const Block *elseBlock);
/// Merges the states at the ends of two paths: elements are definitely initialised if they are on
/// both. With a condition, a store on only one path is recorded as dropped, so that a report can
/// name it.
FlowState mergeFlow(FlowContext &flow, const Expr *condition, FlowState a, const FactSet &aFacts,
                    FlowState b, const FactSet &bFacts);

} // namespace ptl
