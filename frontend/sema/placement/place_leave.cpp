// The walk over the body of a program: `break`, `continue` and `return` in arms of choices. What stands behind such a choice is walked
// in each arm that comes to it, so that an arm has everything up to the end of the round or of the declaration.
#include "frontend/sema/placement/place_leave.h"

#include "frontend/sema/placement/place_choice.h"

#include <algorithm>

namespace ptl {

static bool leaves(const Stmt &stmt);

static bool leaves(const Block *block) {
  return block && std::ranges::any_of(block->stmts, [](const Stmt *stmt) { return leaves(*stmt); });
}

/// Whether a statement may leave the round or the declaration that it stands in. What leaves a loop in it does not.
static bool leaves(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Break:
  case StmtKind::Continue:
  case StmtKind::Return:
    return true;
  case StmtKind::If:
    return leaves(cast<IfStmt>(stmt).thenBlock) || leaves(cast<IfStmt>(stmt).elseBlock);
  case StmtKind::Block:
    return leaves(cast<BlockStmt>(stmt).block);
  default:
    return false;
  }
}

bool breaks(const Block *block) {
  return block && std::ranges::any_of(block->stmts, [](const Stmt *stmt) {
           if (stmt->kind == StmtKind::If)
             return breaks(cast<IfStmt>(*stmt).thenBlock) || breaks(cast<IfStmt>(*stmt).elseBlock);
           return stmt->kind == StmtKind::Break ||
                  (stmt->kind == StmtKind::Block && breaks(cast<BlockStmt>(*stmt).block));
         });
}

std::vector<const Stmt *> joined(const Block *block, const std::vector<const Stmt *> &rest) {
  std::vector<const Stmt *> all;
  if (block)
    all.assign(block->stmts.begin(), block->stmts.end());
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

/// Statements up to the one that leaves the round of a loop, or the program.
void Placer::sequence(const Statements &stmts) {
  for (size_t i = 0; i < stmts.size(); ++i) {
    const Stmt &stmt = *stmts[i];
    Statements rest(stmts.begin() + static_cast<ptrdiff_t>(i) + 1, stmts.end());
    if (!leaves(stmt)) {
      statement(stmt);
      continue;
    }
    if (const auto *choice = dyn_cast<IfStmt>(&stmt))
      return ChoiceWalk(*this).choice(*choice, rest);
    if (const auto *block = dyn_cast<BlockStmt>(&stmt))
      return sequence(joined(block->block, rest));
    if (stmt.kind == StmtKind::Break)
      frame_->locals[leaves_] = number(dims_.constant(1));
    if (stmt.kind == StmtKind::Return && loopDepth_ > 0)
      refuse(stmt, "this `return`", "it is inside a loop; leave the loop with `break`");
    return;
  }
}

/// The values of a `fn`, whose statements these are.
std::vector<ValueId> Placer::results(const Statements &stmts, const Expr *last,
                                     const CallExpr &expr) {
  for (size_t i = 0; i < stmts.size(); ++i) {
    const Stmt &stmt = *stmts[i];
    Statements rest(stmts.begin() + static_cast<ptrdiff_t>(i) + 1, stmts.end());
    if (const auto *given = dyn_cast<ReturnStmt>(&stmt); given && given->value)
      return values(*given->value);
    if (!leaves(stmt)) {
      statement(stmt);
      continue;
    }
    if (const auto *block = dyn_cast<BlockStmt>(&stmt))
      return results(joined(block->block, rest), last, expr);
    // What follows the `if` is placed behind both arms: an arm that returns does not get there.
    const auto &leaving = cast<IfStmt>(stmt);
    PlacedChoice choice{leaving.condition,
                        ChoiceWalk(*this).condition(*leaving.condition, "this `if`")};
    std::vector<ValueId> ends[2];
    for (bool isThen : {true, false})
      ChoiceWalk(*this).arm(choice, isThen, [&]() -> std::optional<ValueId> {
        ends[isThen] =
            results(joined(isThen ? leaving.thenBlock : leaving.elseBlock, rest), last, expr);
        return std::nullopt;
      });
    std::string name = "what `" + expr.callee->name + "` gives";
    std::vector<ValueId> all;
    for (size_t each = 0; each < ends[0].size(); ++each) {
      ReportedValue thenAs{&placed_.values[ends[1][each]], name, "", std::nullopt};
      ReportedValue otherAs{&placed_.values[ends[0][each]], name, "", std::nullopt};
      all.push_back(
          ChoiceWalk(*this).chosen(choice, ends[1][each], ends[0][each], name, thenAs, otherAs));
    }
    choice.end = static_cast<ValueId>(placed_.values.size());
    placed_.choices.push_back(std::move(choice));
    return all;
  }
  if (!last)
    refuse(expr, "`" + expr.callee->name + "`", "it returns no value");
  return values(*last);
}

} // namespace ptl
