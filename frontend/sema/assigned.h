// The variables that statements assign: by assignments, and as `inout` arguments of calls.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <functional>

namespace ptl {

struct Assigned {
  Local *local = nullptr;
  const IndexExpr *place = nullptr; ///< only these elements; null: the variable as a whole
  Span span;
};

using AssignedVisit = std::function<void(const Assigned &)>;

/// What a statement itself assigns, without the blocks in it.
void forEachAssignedBy(const Stmt &stmt, const AssignedVisit &visit);
/// The same of an expression, whose calls may have `inout` arguments. It may be null.
void forEachAssignedBy(const Expr *expr, const AssignedVisit &visit);
/// What a statement assigns, in order, including nested blocks.
void forEachAssigned(const Stmt &stmt, const AssignedVisit &visit);

} // namespace ptl
