// Expressions: what they read, and what calls and assignments write. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

/// Reads what an expression, which may be absent, reads.
void readExpr(FlowContext &flow, const Expr *expr);
/// The positions within `x[…][…]`, without what they select.
void readIndices(FlowContext &flow, const Expr *expr);
/// `stmt`: the assignment that writes; null: a call does.
void writeElements(FlowContext &flow, Elements elements, const AssignStmt *stmt);
/// Reports a store to positions of an index array that need not differ.
void checkScatter(FlowContext &flow, const AssignStmt &stmt, const Elements &elements);

/// Facts of a condition that holds from here on.
void learnCondition(FlowContext &flow, const Expr *condition);
/// A store that was checked when it ran tells the bounds of its positions.
void learnBounds(FlowContext &flow, const IndexExpr &place);
/// Remembers that `symbol` is an element of an array that does not change.
void learnElement(FlowContext &flow, Dim symbol, const Expr *value);
/// The same of the bounds of a loop.
void learnBoundsOf(FlowContext &flow, const LoopDomain &domain, const Expr *iterable);

} // namespace ptl
