// Builds statements, dispatched by their kind. Variables are SSA values; only outputs and `inout`s
// are storage.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

void buildStmt(BuildContext &c, const Stmt &stmt);
/// Builds statements in order. Those after a conditional `return` move into the branch that does
/// not return; those after a possible `break` or `continue` are guarded by the flags.
void buildStmts(BuildContext &c, const std::vector<Stmt *> &stmts, size_t from);
void buildBlock(BuildContext &c, const ptl::Block &block);
/// Builds a block that has a value.
Bound buildValueBlock(BuildContext &c, const ptl::Block &block);

} // namespace ptl::ir
