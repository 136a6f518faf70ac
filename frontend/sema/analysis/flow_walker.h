// Statements in program order. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

/// Walks the statements of a block, if there is one, and its value.
void walkBlock(FlowContext &flow, const Block *block);
/// Walks both arms of a condition, each with what it knows there, and merges what they wrote.
void walkArms(FlowContext &flow, const Expr *condition, const Block *thenBlock,
              const Block *elseBlock);
/// Merges the states at the ends of two paths: elements definitely have a value if they do on both.
/// With a condition, a store on one path alone is noted as dropped, so that a report can name it.
FlowState mergeFlow(FlowContext &flow, const Expr *condition, FlowState a, const FactSet &aFacts,
                    FlowState b, const FactSet &bFacts);

} // namespace ptl
