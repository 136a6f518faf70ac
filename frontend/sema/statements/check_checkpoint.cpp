#include "frontend/sema/statements/check_checkpoint.h"

#include "frontend/lex/literal.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/placement/placement.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

/// Why what this loop carries is not the state of a run; empty if it is. What stands before the loop is
/// computed again, so nothing but the loop may take long.
static std::string whyNot(Context &ctx, const ForStmt &loop) {
  if (!ctx.inProgram() || !ctx.decl || !isPlaced(ctx.tree, ctx.decl->syntax))
    return "it is not in a program whose header places arrays";
  if (ctx.tree.parent(ctx.tree.parent(loop.syntax)) != ctx.decl->syntax)
    return "it is inside another statement, whose state would be lost";
  if (loop.isStatic || !loop.head.iterable || loop.head.iterable->kind != ExprKind::Range)
    return "it does not run over a range, as in `for step in 0..N`";
  if (ctx.hasCheckpoint)
    return "the program has another loop with checkpoints, which would run again after a resume";
  return {};
}

CheckpointClause *checkCheckpoint(Context &ctx, NodeId node, const ForStmt &loop) {
  CheckpointView view(ctx.tree, node);
  if (isMissing(loop.head.iterable))
    return nullptr;
  if (std::string why = whyNot(ctx, loop); !why.empty()) {
    ctx.sink.report(DiagId::CheckpointNotHere, ctx.span(node), {why});
    return nullptr;
  }
  ctx.hasCheckpoint = true;
  auto *clause = ctx.program.make<CheckpointClause>();
  clause->span = ctx.span(node);
  if (ctx.tree.is(view.folder(), NodeKind::StringLiteral)) {
    clause->folder = stringLiteralValue(ctx.text(view.folder()));
    if (clause->folder.empty())
      ctx.sink.report(DiagId::CheckpointNotHere, ctx.span(view.folder()),
                      {"the name of its folder is empty"});
  }
  clause->every = checkIntScalar(ctx, view.every(), "the distance of checkpoints");
  if (auto every = clause->every->dim ? clause->every->dim.constant() : std::nullopt;
      every && *every < 1)
    ctx.sink.report(DiagId::CountNotPositive, clause->every->span,
                    {"the distance of checkpoints", std::to_string(*every)});
  if (view.keep() != kNoNode)
    if (auto keep = requireConstInt(ctx, view.keep(), "the number of checkpoints to keep")) {
      if (*keep < 1)
        ctx.sink.report(DiagId::CountNotPositive, ctx.span(view.keep()),
                        {"the number of checkpoints to keep", std::to_string(*keep)});
      // After the report the number is mended, so that what uses it need not expect 0.
      clause->keep = std::max<int64_t>(*keep, 1);
    }
  return clause;
}

} // namespace ptl
