#include "compile/entry/reach.h"

#include "frontend/sema/check_decl.h"

#include <algorithm>

namespace ptl {

namespace {

using Visit = std::function<void(const Expr &)>;

class Walker {
public:
  explicit Walker(const Visit &visit) : visit_(visit) {}

  void expr(const Expr *expr);
  void block(const Block *block);

private:
  void head(const LoopHead &head) { expr(head.iterable); }
  void stmt(const Stmt &stmt);

  const Visit &visit_;
};

void Walker::expr(const Expr *expr) {
  forEachExpr(expr, [&](const Expr *each) {
    visit_(*each);
    // The values of arms lie in blocks.
    if (each->kind == ExprKind::If) {
      block(static_cast<const IfExpr *>(each)->thenBlock);
      block(static_cast<const IfExpr *>(each)->elseBlock);
    } else if (each->kind == ExprKind::Call) {
      for (const RuntimeCheck &check : static_cast<const CallExpr *>(each)->checks)
        this->expr(check.condition);
    }
  });
}

void Walker::block(const Block *block) {
  if (!block)
    return;
  for (const Stmt *each : block->stmts)
    stmt(*each);
  expr(block->value);
}

void Walker::stmt(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Let:
    return expr(static_cast<const LetStmt &>(stmt).value);
  case StmtKind::Assign:
    expr(static_cast<const AssignStmt &>(stmt).place);
    return expr(static_cast<const AssignStmt &>(stmt).value);
  case StmtKind::ExprStmt:
    return expr(static_cast<const ExprStmt &>(stmt).value);
  case StmtKind::For:
    head(static_cast<const ForStmt &>(stmt).head);
    return block(static_cast<const ForStmt &>(stmt).body);
  case StmtKind::Parallel:
    for (const LoopHead &each : static_cast<const ParallelStmt &>(stmt).heads)
      head(each);
    return block(static_cast<const ParallelStmt &>(stmt).body);
  case StmtKind::While:
    expr(static_cast<const WhileStmt &>(stmt).condition);
    return block(static_cast<const WhileStmt &>(stmt).body);
  case StmtKind::If:
    expr(static_cast<const IfStmt &>(stmt).condition);
    block(static_cast<const IfStmt &>(stmt).thenBlock);
    return block(static_cast<const IfStmt &>(stmt).elseBlock);
  case StmtKind::Return:
    return expr(static_cast<const ReturnStmt &>(stmt).value);
  case StmtKind::Assert:
    return expr(static_cast<const AssertStmt &>(stmt).condition);
  case StmtKind::Task:
    return block(static_cast<const TaskStmt &>(stmt).body);
  case StmtKind::Block:
    return block(static_cast<const BlockStmt &>(stmt).block);
  case StmtKind::OnSection:
    return block(static_cast<const OnStmt &>(stmt).body);
  case StmtKind::BlockDecl:
  case StmtKind::Error:
  case StmtKind::Break:
  case StmtKind::Continue:
    return;
  }
}

} // namespace

void forEachExprOf(const CallableDecl &decl, const Visit &visit) {
  Walker walker(visit);
  for (const Expr *value : decl.paramDefaults)
    walker.expr(value);
  for (const Expr *value : decl.outputInits)
    walker.expr(value);
  for (const WhereClause &where : decl.wheres)
    walker.expr(where.condition);
  walker.block(decl.body);
}

std::vector<const CallableDecl *> reachableFrom(const CallableDecl &entry) {
  std::vector<const CallableDecl *> reach = {&entry};
  for (size_t next = 0; next < reach.size(); ++next)
    forEachExprOf(*reach[next], [&](const Expr &expr) {
      if (expr.kind != ExprKind::Call)
        return;
      const CallableDecl *callee = static_cast<const CallExpr &>(expr).callee;
      if (callee && std::find(reach.begin(), reach.end(), callee) == reach.end())
        reach.push_back(callee);
    });
  return reach;
}

std::string sourceKey(const CheckedProgram &program, const SourceManager &sources,
                      const std::vector<const CallableDecl *> &reach) {
  std::string key;
  auto add = [&](Span span) {
    if (span.file >= sources.size())
      return;
    // The line is part of what is compiled: a program that stops says it.
    const SourceFile &file = sources.file(span.file);
    key += file.path() + ":" + std::to_string(file.lineColumn(span.begin).line) + "\n";
    key += std::string(sources.text(span)) + "\n";
  };
  std::vector<const CheckedModule *> modules;
  for (const CallableDecl *decl : reach) {
    add(decl->span);
    if (std::find(modules.begin(), modules.end(), decl->module) == modules.end())
      modules.push_back(decl->module);
  }
  // Constants and types may come from every module; few of them change while one types.
  for (const auto &module : program.modules) {
    for (const StructDecl *decl : module->structs)
      key += std::string(sources.text(decl->span)) + "\n";
    for (const ConstDecl *decl : module->consts)
      key += std::string(sources.text(decl->span)) + "\n";
    for (const TypeAliasDecl *decl : module->aliases)
      key += std::string(sources.text(decl->span)) + "\n";
    for (const ScheduleDecl *decl : module->schedules)
      key += std::string(sources.text(decl->span)) + "\n";
  }
  return key;
}

const CallableDecl *findDeclaration(const CheckedProgram &program, const std::string &name,
                                    std::optional<uint32_t> offset) {
  const CallableDecl *found = nullptr;
  for (const CallableDecl *decl : program.modules.front()->callables) {
    bool holds = offset && decl->span.begin <= *offset && *offset <= decl->span.end;
    if (name.empty() ? !holds : decl->name != name)
      continue;
    if (!found || holds)
      found = decl;
  }
  return found;
}

} // namespace ptl
