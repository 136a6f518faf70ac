#include "codegen/reference/exec.h"

#include "codegen/reference/compared_text.h"
#include "codegen/reference/eval.h"
#include "codegen/reference/exec_assign.h"
#include "codegen/reference/exec_loop.h"

namespace ptl::reference {

namespace {

void execAssert(RunState &run, const AssertStmt &stmt) {
  if (evalBool(run, *stmt.condition))
    return;
  std::string message = stmt.message.empty() ? "`" + stmt.text + "` does not hold" : stmt.message;
  stop(RunStatus::Assert, message + comparedText(run, *stmt.condition), stmt.condition->span);
}

Flow execStmt(RunState &run, const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Let:
    execLet(run, cast<LetStmt>(stmt));
    return Flow::Next;
  case StmtKind::Assign:
    execAssign(run, cast<AssignStmt>(stmt));
    return Flow::Next;
  case StmtKind::ExprStmt:
    eval(run, *cast<ExprStmt>(stmt).value);
    return Flow::Next;
  case StmtKind::For:
    return execFor(run, cast<ForStmt>(stmt));
  case StmtKind::Parallel:
    execParallel(run, cast<ParallelStmt>(stmt));
    return Flow::Next;
  case StmtKind::While:
    return execWhile(run, cast<WhileStmt>(stmt));
  case StmtKind::If: {
    const auto &branch = cast<IfStmt>(stmt);
    bool holds = evalBool(run, *branch.condition);
    run.noteArm(&stmt, holds ? Arm::Then : Arm::Else);
    const Block *block = holds ? branch.thenBlock : branch.elseBlock;
    return block ? exec(run, *block) : Flow::Next;
  }
  case StmtKind::Break:
    return Flow::Break;
  case StmtKind::Continue:
    return Flow::Continue;
  case StmtKind::Return:
    if (const Expr *value = cast<ReturnStmt>(stmt).value)
      run.frame().returned = eval(run, *value);
    return Flow::Return;
  case StmtKind::Assert:
    execAssert(run, cast<AssertStmt>(stmt));
    return Flow::Next;
  case StmtKind::Task:
    return exec(run, *cast<TaskStmt>(stmt).body);
  case StmtKind::Block:
    return exec(run, *cast<BlockStmt>(stmt).block);
  case StmtKind::BlockDecl:
  case StmtKind::OnSection:
    stop(RunStatus::Unsupported, "sections are block level, which target `reference` cannot run",
         stmt.span);
  case StmtKind::Error:
    break;
  }
  stop(RunStatus::Unsupported, "this statement has errors", stmt.span);
}

} // namespace

Flow exec(RunState &run, const Block &block) {
  for (const Stmt *stmt : block.stmts)
    if (Flow flow = exec(run, *stmt); flow != Flow::Next)
      return flow;
  return Flow::Next;
}

Flow exec(RunState &run, const Stmt &stmt) {
  // Blocks alone are no step.
  if (!run.options().observer || stmt.kind == StmtKind::Block)
    return execStmt(run, stmt);
  return run.observed(stepOf(stmt), [&] { return execStmt(run, stmt); });
}

} // namespace ptl::reference
