// Statements.
#include "ir/build/build_stmt.h"
#include "ir/build/build_assign.h"
#include "ir/build/build_block.h"
#include "ir/build/build_branch.h"
#include "ir/build/build_check.h"
#include "ir/build/build_exit.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_loop.h"
#include "ir/build/build_manual.h"
#include "ir/build/build_parallel.h"
#include "ir/build/build_return.h"
#include "ir/build/build_task.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ptl::ir {

void buildBlock(BuildContext &c, const ptl::Block &block) {
  LengthNames outside = c.names;
  buildStmts(c, block.stmts, 0);
  if (block.value)
    buildExpr(c, *block.value);
  c.names = outside; // what is asserted here may not have been reached
}

Bound buildValueBlock(BuildContext &c, const ptl::Block &block) {
  buildStmts(c, block.stmts, 0);
  return block.value ? buildExpr(c, *block.value) : Bound();
}

void buildStmts(BuildContext &c, const std::vector<Stmt *> &stmts, size_t from) {
  for (size_t i = from; i < stmts.size(); ++i) {
    const Stmt &stmt = *stmts[i];
    bool last = i + 1 == stmts.size();
    bool returns = mayReturn(stmt);
    // The statements behind a branch that returns belong into the arms that do not, so they are
    // built there.
    if (returns && !c.returnSlot && stmt.kind == StmtKind::If)
      return buildReturningIf(c, cast<IfStmt>(stmt), stmts, i + 1);
    if (returns && !c.returnSlot && (stmt.kind == StmtKind::For || stmt.kind == StmtKind::While))
      return buildReturningLoop(c, stmt, stmts, i + 1);
    buildStmt(c, stmt);
    if (stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Break ||
        stmt.kind == StmtKind::Continue)
      return;
    // What follows runs only where the statement has not jumped.
    if (!last && (mayExit(stmt) || returns))
      return buildGuarded(c, stmts, i + 1);
  }
}

void buildStmt(BuildContext &c, const Stmt &stmt) {
  llvm::SaveAndRestore place(c.place, c.location(stmt.span));
  ++c.built;
  switch (stmt.kind) {
  case StmtKind::Let:
    return buildLet(c, cast<LetStmt>(stmt));
  case StmtKind::Assign:
    return buildAssign(c, cast<AssignStmt>(stmt));
  case StmtKind::ExprStmt:
    buildExpr(c, *cast<ExprStmt>(stmt).value);
    return;
  case StmtKind::For:
    return buildFor(c, cast<ForStmt>(stmt));
  case StmtKind::Parallel:
    return buildParallel(c, cast<ParallelStmt>(stmt));
  case StmtKind::While:
    return buildWhile(c, cast<WhileStmt>(stmt));
  case StmtKind::If:
    return buildIf(c, cast<IfStmt>(stmt));
  case StmtKind::Break:
    return setExit(c, &ExitFlags::broke, c.location(stmt.span));
  case StmtKind::Continue:
    return setExit(c, &ExitFlags::continued, c.location(stmt.span));
  case StmtKind::Return:
    return buildReturn(c, cast<ReturnStmt>(stmt));
  case StmtKind::Assert:
    return buildAssert(c, cast<AssertStmt>(stmt));
  case StmtKind::Task:
    return buildTask(c, cast<TaskStmt>(stmt));
  case StmtKind::Block:
    return buildBlock(c, *cast<BlockStmt>(stmt).block);
  case StmtKind::BlockDecl:
    return buildBlockDecl(c, cast<BlockDeclStmt>(stmt));
  case StmtKind::OnSection:
    if (c.manual)
      return buildSection(c, cast<OnStmt>(stmt));
    c.fail(DiagId::BlockLevelNotOnTarget, stmt.span, {c.frame->decl->name, c.binding.machine});
    return;
  case StmtKind::Error:
    return;
  }
}

} // namespace ptl::ir
