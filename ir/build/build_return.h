// Builds `return`: the statements after it move into the arms of a branch, and loops carry whether
// it was reached.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Builds a `return`. Inside a loop the value goes to the slot that the loop carries, and the loop
/// is left.
void buildReturn(BuildContext &c, const ReturnStmt &stmt);
/// `if c { return a } rest` is `if c { a } else { rest }`, as a value. `rest` are the statements
/// from `next` on.
void buildReturningIf(BuildContext &c, const IfStmt &stmt, const std::vector<Stmt *> &stmts,
                      size_t next);
/// Builds the outermost loop with a `return`, which carries whether it was reached, and its value.
void buildReturningLoop(BuildContext &c, const Stmt &loop, const std::vector<Stmt *> &stmts,
                        size_t next);

} // namespace ptl::ir
