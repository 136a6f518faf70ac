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
/// Goes on where several ways meet: elements are definitely initialised if they are on each of those
/// that can be reached, where an element that does not exist under what holds on a way counts as
/// initialised there. From here on holds what the only way knows, or else `common`, which has to
/// hold on all of them. With a condition, a store on only one way is recorded as dropped, so that a
/// report can name it.
void joinWays(FlowContext &flow, const Expr *condition, std::vector<Way> ways, Known common);

} // namespace ptl
