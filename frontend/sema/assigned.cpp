#include "frontend/sema/assigned.h"

#include "frontend/sema/walk.h"

namespace ptl {

void forEachAssignedBy(const Expr *expr, const AssignedVisit &visit) {
  forEachExpr(expr, [&](const Expr *each) {
    if (const auto *call = dyn_cast<CallExpr>(each))
      for (const CallArg &arg : call->args)
        if (Local *local = arg.isInout ? rootLocal(arg.value) : nullptr)
          visit({local, dyn_cast<IndexExpr>(arg.value), arg.value->span});
  });
}

void forEachAssignedBy(const Stmt &stmt, const AssignedVisit &visit) {
  if (const auto *assign = dyn_cast<AssignStmt>(&stmt))
    visit({assign->target, assign->place, assign->span});
  forEachPart(
      stmt, [&](const Expr *expr) { forEachAssignedBy(expr, visit); }, [](const Block *) {});
}

void forEachAssigned(const Stmt &stmt, const AssignedVisit &visit) {
  forEachAssignedBy(stmt, visit);
  forEachPart(
      stmt, [](const Expr *) {},
      [&](const Block *inner) {
        for (const Stmt *each : inner->stmts)
          forEachAssigned(*each, visit);
        forEachAssignedBy(inner->value, visit);
      });
}

} // namespace ptl
