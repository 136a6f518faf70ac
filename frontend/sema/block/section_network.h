// The sections of one block as a network of processes, put into one order in which nothing waits.
#pragma once

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/context.h"
#include "frontend/sema/walk.h"

#include <functional>

namespace ptl {

using Statements = std::vector<Stmt *>;

/// The statements of a section, or of a loop in one. `section`: null in kernels.
struct Process {
  Statements stmts;
  const OnStmt *section = nullptr;
};

/// Locals of a declaration in the order in which they are declared, so that errors come in one order.
struct AsDeclared {
  bool operator()(const Local *a, const Local *b) const { return a->index < b->index; }
};

/// Calls `visit` for each expression of statements, and of those inside them.
void forEachExprIn(const Block &block, const std::function<void(const Expr *)> &visit);
void forEachExprIn(const Stmt &stmt, const std::function<void(const Expr *)> &visit);

/// A `push` or a `pop`; null for other expressions.
const BlockExpr *asQueueCall(const Expr *expr);
bool usesQueues(const Stmt &stmt);
/// The number of the pipe that a call names among those of an array of pipes; unknown where it is one pipe.
inline Dim pipeNumber(const BlockExpr &call) {
  return call.offsets.empty() ? Dim() : call.offsets[0];
}

/// A statement that may leave the round of a loop that it stands in, or the declaration; null if none does.
const Stmt *leavesRound(const Stmt &stmt);

/// The locals that a block assigns, and where.
using Writes = std::map<const Local *, Span, AsDeclared>;
void collectWrites(const Block &block, Writes &writes);
/// Reports what one section writes and another uses.
bool shareNothing(Context &ctx, const std::vector<OnStmt *> &sections);

/// Runs processes, each until it pops what nobody has pushed yet, and appends their statements to `out` in that
/// order; loops that push and pop to each other become one. Those of sections of programs are blocks that name their
/// section. False after a report of what cannot be matched.
bool runNetwork(Context &ctx, std::vector<Process> processes, Statements &out);

} // namespace ptl
