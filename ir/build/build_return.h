// Builds `return`: the statements after it move into the other branch of an `if`, and loops carry a
// flag whether it was reached.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Builds a `return`. Inside a loop the value is stored in the slot that the loop carries, and the
/// loop is left.
void buildReturn(BuildContext &c, const ReturnStmt &stmt);
/// Builds `if c { return a } rest` as the value `if c { a } else { rest }`. `rest` is the
/// statements from `next` on.
void buildReturningIf(BuildContext &c, const IfStmt &stmt, const std::vector<Stmt *> &stmts,
                      size_t next);
/// Builds the outermost loop with a `return`; it carries the flag and the returned value.
void buildReturningLoop(BuildContext &c, const Stmt &loop, const std::vector<Stmt *> &stmts,
                        size_t next);

} // namespace ptl::ir
