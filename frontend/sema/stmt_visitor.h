// A visitor of statements by their kind.
#pragma once

#include "frontend/sema/checked_stmt.h"

namespace ptl {

/// A visitor derives from it and has a `visitX` for each kind, so that a visitor that lacks a kind
/// does not compile. `visitError` is called for statements with errors, whatever their class.
template <typename Walk, typename Result = void> class StmtVisitor {
public:
  Result visit(const Stmt &stmt) {
    switch (stmt.kind) {
    case StmtKind::Error:
      return walk().visitError(stmt);
    case StmtKind::Let:
      return walk().visitLet(cast<LetStmt>(stmt));
    case StmtKind::Assign:
      return walk().visitAssign(cast<AssignStmt>(stmt));
    case StmtKind::ExprStmt:
      return walk().visitExprStmt(cast<ExprStmt>(stmt));
    case StmtKind::For:
      return walk().visitFor(cast<ForStmt>(stmt));
    case StmtKind::Parallel:
      return walk().visitParallel(cast<ParallelStmt>(stmt));
    case StmtKind::While:
      return walk().visitWhile(cast<WhileStmt>(stmt));
    case StmtKind::If:
      return walk().visitIf(cast<IfStmt>(stmt));
    case StmtKind::Break:
      return walk().visitBreak(cast<BreakStmt>(stmt));
    case StmtKind::Continue:
      return walk().visitContinue(cast<ContinueStmt>(stmt));
    case StmtKind::Return:
      return walk().visitReturn(cast<ReturnStmt>(stmt));
    case StmtKind::Assert:
      return walk().visitAssert(cast<AssertStmt>(stmt));
    case StmtKind::Task:
      return walk().visitTask(cast<TaskStmt>(stmt));
    case StmtKind::Block:
      return walk().visitBlock(cast<BlockStmt>(stmt));
    case StmtKind::OnSection:
      return walk().visitOnSection(cast<OnStmt>(stmt));
    case StmtKind::BlockDecl:
      return walk().visitBlockDecl(cast<BlockDeclStmt>(stmt));
    }
    __builtin_unreachable();
  }

private:
  // Only the visitor itself can be its template argument: `class A : StmtVisitor<B>` does not
  // compile.
  friend Walk;
  StmtVisitor() = default;

  Walk &walk() { return static_cast<Walk &>(*this); }
};

} // namespace ptl
