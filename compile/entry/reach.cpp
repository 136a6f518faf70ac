#include "compile/entry/reach.h"

#include "frontend/sema/walk.h"

#include <algorithm>

namespace ptl {

namespace {

using ExprVisitor = std::function<void(const Expr &)>;

class Walker {
public:
  explicit Walker(const ExprVisitor &visit) : visit_(visit) {}

  void expr(const Expr *expr);
  void block(const Block *block);

private:
  const ExprVisitor &visit_;
};

void Walker::expr(const Expr *expr) {
  forEachExpr(expr, [&](const Expr *each) {
    visit_(*each);
    // The values of arms lie in blocks.
    if (each->kind == ExprKind::If) {
      block(cast<IfExpr>(each)->thenBlock);
      block(cast<IfExpr>(each)->elseBlock);
    } else if (each->kind == ExprKind::Call) {
      for (const RuntimeCheck &check : cast<CallExpr>(each)->checks)
        this->expr(check.condition);
    }
  });
}

void Walker::block(const Block *block) {
  if (!block)
    return;
  for (const Stmt *each : block->stmts)
    forEachPart(
        *each, [this](const Expr *expr) { this->expr(expr); },
        [this](const Block *block) { this->block(block); });
  expr(block->value);
}

} // namespace

void forEachExprOf(const CallableDecl &decl, const ExprVisitor &visit) {
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
      const CallableDecl *callee = cast<CallExpr>(expr).callee;
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
