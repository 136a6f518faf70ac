// Builds branches: `if` as a statement and as a value, `and` and `or`.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

void buildIf(BuildContext &c, const IfStmt &stmt);
Bound buildIfExpr(BuildContext &c, const IfExpr &expr);
Bound buildLogical(BuildContext &c, const LogicalExpr &expr);
/// The value of a condition that is computed only where another one is `when`; elsewhere it is
/// `!when`.
mlir::Value buildWhere(BuildContext &c, mlir::Value condition, bool when, const Expr &expr,
                       mlir::Location loc);
/// The value of a condition, if it is known at compile time.
std::optional<bool> constantCondition(mlir::Value condition);

} // namespace ptl::ir
