#include "frontend/sema/block/stage_chains.h"

#include <algorithm>
#include <set>

namespace ptl {

namespace {

/// Stages run on parts of their own, so they cannot change a variable of all.
bool keepsNothing(Context &ctx, const Statements &unit, const Local &stage) {
  Block block;
  block.stmts = unit;
  Writes writes;
  collectWrites(block, writes);
  std::set<const Local *> own;
  std::function<void(const Block *)> declare = [&](const Block *in) {
    for (const Stmt *stmt : in->stmts) {
      if (const auto *let = dyn_cast<LetStmt>(stmt))
        own.insert(let->locals.begin(), let->locals.end());
      forEachPart(*stmt, [](const Expr *) {}, declare);
    }
  };
  declare(&block);
  for (const auto &[local, span] : writes)
    if (!own.contains(local)) {
      ctx.sink.report(DiagId::SectionsShare, span, {local->name})
          .note("each `" + stage.name + "` is a section of its own");
      return false;
    }
  return true;
}

bool refuseChain(Context &ctx, const BlockExpr &call, const Local &stage) {
  const std::string &pipe = call.object->name;
  ctx.sink
      .report(DiagId::PipeEnds, call.span,
              {"`" + pipe + "`",
               "each `" + stage.name +
                   "` pops from one pipe of an array of pipes, and then pushes to the "
                   "next one"})
      .help("as `pop(" + pipe + "[" + stage.name + "])` and `push(" + pipe + "[" + stage.name +
            " + 1], …)` do");
  return false;
}

bool findChains(Context &ctx, const Statements &unit, const OnStmt &section,
                std::vector<StageChain> &chains) {
  Dim stage = ctx.dims.symbolDim(*section.stages.var->symbol), one = ctx.dims.constant(1);
  for (const Stmt *stmt : unit) {
    if (stmt->kind == StmtKind::If || stmt->kind == StmtKind::While ||
        stmt->kind == StmtKind::Block) {
      if (usesQueues(*stmt)) {
        ctx.sink.report(DiagId::QueueInBranch, stmt->span, {});
        return false;
      }
      continue;
    }
    std::vector<BlockExpr *> pushes;
    const BlockExpr *wrong = nullptr;
    forEachExprIn(*stmt, [&](const Expr *expr) {
      auto *call = const_cast<BlockExpr *>(asQueueCall(expr));
      if (!call)
        return;
      if (call->op == BlockOp::Push) {
        pushes.push_back(call);
        return;
      }
      // A stage pops from the pipe of its own number, up to a constant, and from each array of pipes once.
      bool isKnown = std::ranges::any_of(
          chains, [&](const StageChain &chain) { return chain.pop->object == call->object; });
      Dim first = ctx.dims.sub(pipeNumber(*call), stage);
      if (isKnown || !first || first.mentions(*section.stages.var->symbol))
        wrong = call;
      else
        chains.push_back({call, nullptr, first});
    });
    for (BlockExpr *push : pushes) {
      // It pushes to the pipe with the next number, from which the next stage pops.
      auto chain = std::ranges::find_if(chains, [&](const StageChain &each) {
        return !each.push && each.pop->object == push->object &&
               pipeNumber(*push) == ctx.dims.add(ctx.dims.add(each.first, stage), one);
      });
      if (chain == chains.end())
        wrong = push;
      else
        chain->push = push;
    }
    if (wrong)
      return refuseChain(ctx, *wrong, *section.stages.var);
  }
  for (const StageChain &chain : chains)
    if (!chain.push)
      return refuseChain(ctx, *chain.pop, *section.stages.var);
  return true;
}

} // namespace

std::optional<std::vector<StageChain>> chainsOf(Context &ctx, const Statements &unit,
                                                const OnStmt &section) {
  std::vector<StageChain> chains;
  if (!keepsNothing(ctx, unit, *section.stages.var) || !findChains(ctx, unit, section, chains))
    return std::nullopt;
  return chains;
}

} // namespace ptl
