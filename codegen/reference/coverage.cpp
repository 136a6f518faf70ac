#include "codegen/reference/coverage.h"

#include "frontend/sema/walk.h"

#include <algorithm>
#include <unordered_set>

namespace ptl::reference {

void Coverage::onCall(const CallableDecl &decl, const RunView &view) {
  Extents extents;
  for (const DimParam &dim : decl.dims)
    extents.push_back(view.valueOf(dim.symbol).value_or(0));
  const std::vector<int64_t> &prefix = *view.calls().front().prefix;
  extents.insert(extents.end(), prefix.begin(), prefix.end());
  ++extents_[&decl][extents];
}

uint64_t Coverage::steps(const void *node) const {
  auto found = steps_.find(node);
  return found == steps_.end() ? 0 : found->second;
}

uint64_t Coverage::taken(const void *node, Arm arm) const {
  auto found = arms_.find(node);
  return found == arms_.end() ? 0 : found->second[static_cast<size_t>(arm)];
}

const std::map<Coverage::Extents, uint64_t> &Coverage::extents(const CallableDecl &decl) const {
  static const std::map<Extents, uint64_t> none;
  auto found = extents_.find(&decl);
  return found == extents_.end() ? none : found->second;
}

namespace {

std::optional<int64_t> constantOf(const Expr *expr) {
  if (!expr)
    return 0;
  if (expr->dim)
    return expr->dim.constant();
  return expr->kind == ExprKind::Const ? std::optional(cast<ConstExpr>(expr)->intValue)
                                       : std::nullopt;
}

/// What can be executed of one entry, and how often it was.
class Lister {
public:
  Lister(const Coverage &coverage, CoveredEntry &entry) : coverage_(coverage), entry_(entry) {}

  void block(const Block &block) {
    for (const Stmt *stmt : block.stmts)
      statement(*stmt);
    if (!block.value)
      return;
    step(stepOf(*block.value));
    expression(*block.value);
  }

private:
  void statement(const Stmt &stmt) {
    if (stmt.kind != StmtKind::Block && stmt.kind != StmtKind::Error)
      step(stepOf(stmt));
    if (stmt.kind == StmtKind::If)
      branch(&stmt, cast<IfStmt>(stmt).condition->span, {Arm::Then, Arm::Else});
    if (stmt.kind == StmtKind::For)
      loop(cast<ForStmt>(stmt).head);
    if (stmt.kind == StmtKind::Parallel)
      for (const LoopHead &head : cast<ParallelStmt>(stmt).heads)
        loop(head);
    forEachPart(
        stmt, [&](const Expr *expr) { expression(*expr); },
        [&](const Block *each) { block(*each); });
  }

  /// Tiles whose length the checker knows are never cut off, and extents that are constants are
  /// never others.
  void loop(const LoopHead &head) {
    if (head.iterable->kind != ExprKind::Tiles)
      return;
    const auto &tiles = cast<TilesExpr>(*head.iterable);
    std::vector<Arm> arms;
    auto lo = constantOf(tiles.lo), hi = constantOf(tiles.hi), size = constantOf(tiles.size);
    // A tile that the checker knows to be as long as its size is never the short last one.
    bool isEven = head.range && head.range->length && tiles.size->dim &&
                  head.range->length == tiles.size->dim;
    bool isKnown = lo && hi && size && *size > 0;
    if (!isKnown || *hi - *lo >= *size)
      arms.push_back(Arm::WholeTile);
    if (isKnown ? *hi > *lo && (*hi - *lo) % *size != 0 : !isEven && size != 1)
      arms.push_back(Arm::PartOfTile);
    if (isKnown ? *hi <= *lo : !(lo && hi && *hi > *lo))
      arms.push_back(Arm::NoTile);
    branch(&tiles, tiles.span, arms);
  }

  void expression(const Expr &root) {
    forEachExpr(&root, [&](const Expr *expr) {
      // Defaults of parameters are shared by all calls.
      if (!seen_.insert(expr).second)
        return;
      if (expr->kind == ExprKind::Logical)
        branch(expr, expr->span, {Arm::Right, Arm::OnlyLeft});
      if (expr->kind != ExprKind::If)
        return;
      const auto &choice = cast<IfExpr>(*expr);
      branch(expr, choice.condition->span, {Arm::Then, Arm::Else});
      for (const Block *each : {choice.thenBlock, choice.elseBlock})
        if (each)
          block(*each);
    });
  }

  void step(const Step &step) {
    entry_.statements.push_back({step.span, coverage_.steps(step.node)});
  }

  void branch(const void *node, Span span, const std::vector<Arm> &arms) {
    if (arms.size() < 2)
      return; // no choice
    CoveredBranch branch{span, {}};
    for (Arm arm : arms)
      branch.arms.emplace_back(arm, coverage_.taken(node, arm));
    entry_.branches.push_back(std::move(branch));
  }

  const Coverage &coverage_;
  CoveredEntry &entry_;
  std::unordered_set<const Expr *> seen_;
};

bool isTestBlock(const CallableDecl &decl) {
  return decl.kind == DeclKind::Test || decl.kind == DeclKind::Property ||
         decl.kind == DeclKind::Bench;
}

} // namespace

std::vector<CoveredEntry> coverageOf(const CheckedModule &module, const Coverage &coverage) {
  std::vector<CoveredEntry> entries;
  for (const CallableDecl *decl : module.callables) {
    if (isTestBlock(*decl))
      continue;
    CoveredEntry entry{decl, 0, unsupportedReason(*decl), {}, {}, coverage.extents(*decl)};
    for (const auto &[extents, count] : entry.extents)
      entry.count += count;
    if (entry.skipped.empty())
      Lister(coverage, entry).block(*decl->body);
    entries.push_back(std::move(entry));
  }
  return entries;
}

} // namespace ptl::reference
