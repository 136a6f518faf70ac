#include "frontend/sema/block/fuse_sections.h"

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/block/section_network.h"
#include "ir/ops/op_table.h"

namespace ptl {

namespace {

/// `split rows`: each row is computed by itself.
bool mixesNoRows(Context &ctx, const OnStmt &section) {
  bool fine = true;
  forEachExprIn(*section.body, [&](const Expr *expr) {
    if (!fine || expr->kind != ExprKind::Op)
      return;
    auto *call = cast<OpExpr>(expr);
    const Expr *source = call->args.empty() ? nullptr : call->args[0];
    // Operations on rows alone have no second axis to mix.
    if (!call->op || !source || !source->type->isArray() || source->type->extents.size() < 2)
      return;
    bool mixes = false;
    auto rank = static_cast<int64_t>(source->type->extents.size());
    switch (call->op->opClass) {
    case OpClass::Reduction:
    case OpClass::Scan:
    case OpClass::Sort:
      // The rows are the first of the last two axes, and a reduction over rows mixes them.
      mixes = call->reducesAll;
      for (int64_t axis : call->axes)
        mixes |= axis == -rank;
      break;
    case OpClass::Product:
    case OpClass::Shape:
    case OpClass::Gather:
    case OpClass::Scatter:
      // These may move elements from one row to another.
      mixes = true;
      break;
    default:
      break;
    }
    if (!mixes)
      return;
    ctx.sink.report(DiagId::MixesRows, call->span, {std::string(call->op->name)})
        .label(section.span, "`split rows`");
    fine = false;
  });
  return fine;
}

/// Fuses the sections of a block and of the blocks inside; false after a report.
bool fuseBlock(Context &ctx, Block *block) {
  if (!block)
    return true;
  std::vector<OnStmt *> sections;
  Statements rest, after;
  // Statements before the first section come before all of them, others after.
  for (Stmt *stmt : block->stmts) {
    if (stmt->kind == StmtKind::OnSection) {
      sections.push_back(cast<OnStmt>(stmt));
      continue;
    }
    if (stmt->kind == StmtKind::BlockDecl)
      continue; // pipes are what the values are called that go through them
    Block *inner = stmt->kind == StmtKind::For        ? cast<ForStmt>(stmt)->body
                   : stmt->kind == StmtKind::Parallel ? cast<ParallelStmt>(stmt)->body
                   : stmt->kind == StmtKind::Block    ? cast<BlockStmt>(stmt)->block
                                                      : nullptr;
    if (!fuseBlock(ctx, inner))
      return false;
    (sections.empty() ? rest : after).push_back(stmt);
  }
  // Without sections, queues have nobody at their other end.
  if (sections.empty()) {
    for (const Stmt *stmt : rest)
      if (usesQueues(*stmt) && stmt->kind != StmtKind::For && stmt->kind != StmtKind::Parallel &&
          stmt->kind != StmtKind::Block) {
        ctx.sink.report(DiagId::CoreNotSaid, stmt->span, {"push", "aic"})
            .help("pipes connect sections: `on aic { … }`, `on aiv { … }`");
        return false;
      }
    block->stmts = rest;
    return true;
  }
  if (!shareNothing(ctx, sections))
    return false;
  std::vector<Process> lists;
  for (OnStmt *section : sections) {
    if (section->splitRows && !mixesNoRows(ctx, *section))
      return false;
    lists.push_back({section->body->stmts});
  }
  if (!runNetwork(ctx, std::move(lists), rest))
    return false;
  rest.insert(rest.end(), after.begin(), after.end());
  block->stmts = rest;
  return true;
}

} // namespace

void fuseSections(Context &ctx) {
  FactSet facts = ctx.facts;
  // Names that only the sections used must not be reported as unused.
  bool wasQuiet = std::exchange(ctx.suppressUnused, true);
  if (fuseBlock(ctx, ctx.decl->body))
    // The body is tile code from here on.
    ctx.decl->isBlockLevel = false;
  ctx.suppressUnused = wasQuiet;
  ctx.facts = facts;
}

} // namespace ptl
