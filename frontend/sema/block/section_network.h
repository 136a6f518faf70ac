// The sections of one block as a network of processes, and its serialisation.
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

/// Orders the locals of a declaration by their declarations, so that errors are reported in a fixed
/// order.
struct AsDeclared {
  bool operator()(const Local *a, const Local *b) const { return a->index < b->index; }
};

/// Calls `visit` for each expression of the statements, including nested ones.
void forEachExprIn(const Block &block, const std::function<void(const Expr *)> &visit);
void forEachExprIn(const Stmt &stmt, const std::function<void(const Expr *)> &visit);

/// A `push` or a `pop`; null for other expressions.
const BlockExpr *asQueueCall(const Expr *expr);
bool usesQueues(const Stmt &stmt);
/// The index of the pipe that a call names, in an array of pipes; unknown for a single pipe.
inline Dim pipeNumber(const BlockExpr &call) {
  return call.offsets.empty() ? Dim() : call.offsets[0];
}

/// A statement that may leave the iteration of an enclosing loop, or the declaration; null if there
/// is none.
const Stmt *leavesRound(const Stmt &stmt);

/// The locals that a block assigns, and the locations of the assignments.
using Writes = std::map<const Local *, Span, AsDeclared>;
void collectWrites(const Block &block, Writes &writes);
/// Reports variables that one section writes and another uses.
bool shareNothing(Context &ctx, const std::vector<OnStmt *> &sections);

/// Runs processes, each until it pops what has not been pushed yet, and appends their statements to
/// `out` in that order; loops that push and pop to each other are fused. For sections of programs
/// the statements become blocks that name their section. Returns false after reporting a mismatch.
bool runNetwork(Context &ctx, std::vector<Process> processes, Statements &out);

} // namespace ptl
