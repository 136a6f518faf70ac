#include "compile/cost/statements.h"

#include <algorithm>

namespace ptl {

namespace {

using Visit = std::function<void(const StatementPlace &)>;

void visitBlock(const Block *block, const Visit &visit);

void visitStatement(const Stmt &stmt, const Visit &visit) {
  auto inner = [&](std::string_view kind, std::initializer_list<const Block *> blocks) {
    visit({stmt.span, kind, false, &stmt});
    for (const Block *block : blocks)
      visitBlock(block, visit);
  };
  switch (stmt.kind) {
  case StmtKind::For:
    return inner("loop", {cast<ForStmt>(stmt).body});
  case StmtKind::Parallel:
    return inner("loop", {cast<ParallelStmt>(stmt).body});
  case StmtKind::While:
    return inner("loop", {cast<WhileStmt>(stmt).body});
  case StmtKind::If:
    return inner("branch", {cast<IfStmt>(stmt).thenBlock, cast<IfStmt>(stmt).elseBlock});
  case StmtKind::Task:
    return inner("section", {cast<TaskStmt>(stmt).body});
  case StmtKind::OnSection:
    return inner("section", {cast<OnStmt>(stmt).body});
  case StmtKind::Block:
    return visitBlock(cast<BlockStmt>(stmt).block, visit);
  case StmtKind::Error:
  case StmtKind::BlockDecl:
  case StmtKind::Break:
  case StmtKind::Continue:
    return;
  // All other statements have no statements within them.
  default:
    return visit({stmt.span, "statement", true, &stmt});
  }
}

void visitBlock(const Block *block, const Visit &visit) {
  if (!block)
    return;
  for (const Stmt *each : block->stmts)
    visitStatement(*each, visit);
  // The value of a block is an expression without a statement.
  if (block->value)
    visit({block->value->span, "statement", true});
}

} // namespace

void forEachStatement(const CallableDecl &decl, const Visit &visit) {
  visitBlock(decl.body, visit);
}

bool isWithin(const std::vector<Span> &spans, Span outer) {
  return std::any_of(spans.begin(), spans.end(), [&](Span span) {
    return span.file == outer.file && outer.begin <= span.begin && span.end <= outer.end;
  });
}

} // namespace ptl
