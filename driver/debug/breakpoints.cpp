#include "driver/debug/breakpoints.h"

#include "frontend/sema/walk.h"

#include <algorithm>

namespace ptl::debug {

using namespace reference;

namespace {

/// Calls `visit` for all steps of a block.
class Steps {
public:
  explicit Steps(const std::function<void(Span)> &visit) : visit_(visit) {}

  void block(const Block &block) {
    for (const Stmt *stmt : block.stmts) {
      if (stmt->kind != StmtKind::Block)
        visit_(stepOf(*stmt).span);
      forEachPart(
          *stmt, [&](const Expr *expr) { expression(*expr); },
          [&](const Block *each) { this->block(*each); });
    }
    if (!block.value)
      return;
    visit_(block.value->span);
    expression(*block.value);
  }

private:
  void expression(const Expr &root) {
    forEachExpr(&root, [&](const Expr *expr) {
      if (expr->kind == ExprKind::If)
        for (const Block *each : {cast<IfExpr>(expr)->thenBlock, cast<IfExpr>(expr)->elseBlock})
          if (each)
            block(*each);
    });
  }

  const std::function<void(Span)> &visit_;
};

} // namespace

Breakpoints::Breakpoints(const CheckedProgram &program, const SourceManager &sources)
    : sources_(sources) {
  for (const auto &module : program.modules) {
    files_[canonicalPath(sources.file(module->file).path())] = module->file;
    collect(*module);
  }
}

void Breakpoints::collect(const CheckedModule &module) {
  const SourceFile &file = sources_.file(module.file);
  std::map<uint32_t, uint32_t> &lines = steps_[module.file];
  std::function<void(Span)> visit = [&](Span span) {
    uint32_t line = file.lineColumn(span.begin).line;
    auto [known, isNew] = lines.try_emplace(line, span.begin);
    if (!isNew)
      known->second = std::min(known->second, span.begin);
  };
  for (const CallableDecl *decl : module.callables)
    if (unsupportedReason(*decl).empty())
      Steps(visit).block(*decl->body);
}

std::vector<Breakpoint> Breakpoints::set(const std::string &path,
                                         const std::vector<Wanted> &wanted) {
  std::vector<Breakpoint> answer;
  auto known = files_.find(canonicalPath(path));
  if (known == files_.end()) {
    for (const Wanted &each : wanted)
      answer.push_back({each.line, 1, false, each.condition, each.hits, 0});
    return answer;
  }
  std::map<uint32_t, Breakpoint> &set = set_[known->second];
  set.clear();
  const std::map<uint32_t, uint32_t> &lines = steps_[known->second];
  for (const Wanted &each : wanted) {
    auto step = lines.lower_bound(each.line);
    Breakpoint made{each.line, 1, step != lines.end(), each.condition, each.hits, 0};
    if (made.isPossible) {
      LineColumn at = sources_.file(known->second).lineColumn(step->second);
      made.line = at.line;
      made.column = at.column;
      set[step->second] = made;
    }
    answer.push_back(made);
  }
  return answer;
}

Breakpoint *Breakpoints::at(Span step) {
  auto file = set_.find(step.file);
  if (file == set_.end())
    return nullptr;
  auto found = file->second.find(step.begin);
  return found == file->second.end() ? nullptr : &found->second;
}

} // namespace ptl::debug
