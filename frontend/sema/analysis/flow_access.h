// Expressions: what they read, and what calls and assignments write. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

/// Records all reads of an expression, which may be null.
void readExpr(FlowContext &flow, const Expr *expr);
/// Records the reads of the positions within `x[…][…]`, without those of the elements selected.
void readIndices(FlowContext &flow, const Expr *expr);
/// Records a write to the elements by the assignment `stmt`, or by a call where that is null.
void writeElements(FlowContext &flow, Elements elements, const AssignStmt *stmt);
/// Reports a store to positions of an index array that need not differ.
void checkScatter(FlowContext &flow, const AssignStmt &stmt, const Elements &elements);

/// Facts of a condition that holds from here on.
void learnCondition(FlowContext &flow, const Expr *condition);
/// Adds the bounds of a store's positions as facts: the store has been checked at run time, so code
/// behind it is reached only when they hold.
void learnBounds(FlowContext &flow, const IndexExpr &place);
/// Remembers that `symbol` is an element of an array that does not change.
void learnElement(FlowContext &flow, Dim symbol, const Expr *value);
/// The same for the bounds of a loop that are elements of an array.
void learnBoundsOf(FlowContext &flow, const LoopDomain &domain, const Expr *iterable);

} // namespace ptl
