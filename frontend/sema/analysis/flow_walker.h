// Statements in program order. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

/// Walks the statements of a block, if there is one, and its value.
void walkBlock(FlowContext &flow, const Block *block);
/// Walks both arms of a condition, each with what it knows there, and merges what they wrote.
void walkArms(FlowContext &flow, const Expr *condition, const Block *thenBlock,
              const Block *elseBlock);
/// What surely has a value on both ways. With a condition, stores of one of them alone are noted as
/// dropped.
FlowState mergeFlow(FlowContext &flow, const Expr *condition, FlowState a, const FactSet &aFacts,
                    FlowState b, const FactSet &bFacts);

} // namespace ptl
