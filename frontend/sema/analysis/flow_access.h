// Expressions: which elements they read, and which elements calls and assignments write. Only for
// use inside `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

/// Records all reads of an expression, which may be null.
void readExpr(FlowContext &flow, const Expr *expr);
/// Records the reads of the index expressions within `x[…][…]`, without those of the selected
/// elements.
void readIndices(FlowContext &flow, const Expr *expr);
/// Records a write to the elements by the assignment `stmt`, or by a call where that is null.
void writeElements(FlowContext &flow, Elements elements, const AssignStmt *stmt);
/// Reports a store to positions of an index array that are not known to be distinct.
void checkScatter(FlowContext &flow, const AssignStmt &stmt, const Elements &elements);

/// Adds facts of a condition that holds from here on.
void learnCondition(FlowContext &flow, const Expr *condition);
/// Adds the bounds of a store's positions as facts: the store is checked at run time, so the code
/// after it is reached only if they hold.
void learnBounds(FlowContext &flow, const IndexExpr &place);
/// Records that `symbol` is an element of an array that does not change.
void learnElement(FlowContext &flow, Dim symbol, const Expr *value);
/// The same for the bounds of a loop that are elements of an array.
void learnBoundsOf(FlowContext &flow, const LoopDomain &domain, const Expr *iterable);

} // namespace ptl
