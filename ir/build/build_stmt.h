// Statements, and which function builds which. Variables are SSA values; only outputs and inouts
// are storage.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

void buildStmt(BuildContext &c, const Stmt &stmt);
/// Builds statements in order. What follows a conditional `return` moves into the arms that do not
/// return; what follows a possible `break` or `continue` is guarded by the flags.
void buildStmts(BuildContext &c, const std::vector<Stmt *> &stmts, size_t from);
void buildBlock(BuildContext &c, const ptl::Block &block);
/// A block that has a value.
Bound buildValueBlock(BuildContext &c, const ptl::Block &block);

} // namespace ptl::ir
