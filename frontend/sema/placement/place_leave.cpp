// The walk over the body of a program: `break`, `continue` and `return` in arms of choices. What stands behind such a choice is walked
// in each arm that comes to it, so that an arm has everything up to the end of the round or of the declaration.
#include "frontend/sema/placement/place_leave.h"

#include "frontend/sema/placement/place_choice.h"
#include "frontend/sema/walk.h"

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

/// The first `return` in a statement, also in the loops in it; null if there is none.
static const ReturnStmt *returnIn(const Stmt &stmt) {
  if (const auto *found = dyn_cast<ReturnStmt>(&stmt))
    return found;
  const ReturnStmt *found = nullptr;
  forEachPart(
      stmt, [](const Expr *) {},
      [&](const Block *block) {
        for (const Stmt *each : block->stmts)
          found = found ? found : returnIn(*each);
      });
  return found;
}

static bool isLoopThatReturns(const Stmt &stmt) {
  return (stmt.kind == StmtKind::For || stmt.kind == StmtKind::While) && returnIn(stmt);
}

bool breaks(const Block *block) {
  return block && std::ranges::any_of(block->stmts, [](const Stmt *stmt) {
           if (stmt->kind == StmtKind::If)
             return breaks(cast<IfStmt>(*stmt).thenBlock) || breaks(cast<IfStmt>(*stmt).elseBlock);
           return stmt->kind == StmtKind::Break || stmt->kind == StmtKind::Return ||
                  isLoopThatReturns(*stmt) ||
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

/// What is there of a type before there is a value: zeros.
ValueId Placer::nothing(const Type &type) {
  PlacedValue value;
  value.elem = elemOf(type.elem);
  value.shape = shapeOf(type);
  std::shared_ptr<Expr> zero = std::make_shared<ConstExpr>();
  if (type.isArray()) {
    auto zeros = std::make_shared<OpExpr>();
    zeros->op = &opRecord(OpId::Zeros);
    value.kind = PlacedKind::Apply;
    zero = std::move(zeros);
  }
  zero->type = &type;
  zero->span = decl_.nameSpan;
  value.expr = placed_.made.emplace_back(std::move(zero)).get();
  return add(std::move(value));
}

/// In front of a loop that may return: nothing has returned yet.
void Placer::expectReturn(const Stmt &loop) {
  auto declare = [&](const char *name, ValueId id) {
    auto local = std::make_shared<Local>();
    local->name = name;
    local->kind = LocalKind::Var;
    frame_->locals[local.get()] = id;
    return placed_.flags.emplace_back(std::move(local)).get();
  };
  if (!returned_.flag)
    returned_.flag = declare("return", number(dims_.constant(0)));
  const Expr *value = returnIn(loop)->value;
  if (!value || returned_.value)
    return;
  if (!value->type->isArray() && !value->type->isScalar())
    refuse(*value, "this `return`",
           "inside a loop it must have one array or one scalar as its value");
  returned_.value = declare("what is returned", nothing(*value->type));
}

/// The condition that a loop has returned.
std::shared_ptr<LocalRefExpr> Placer::hasReturned(const Stmt &loop) {
  auto condition = std::make_shared<LocalRefExpr>();
  condition->local = const_cast<Local *>(returned_.flag);
  condition->span = loop.span;
  placed_.made.push_back(condition);
  return condition;
}

/// `break`, `continue` or `return`, which end the statements that they stand in.
void Placer::jump(const Stmt &stmt) {
  const auto *returns = dyn_cast<ReturnStmt>(&stmt);
  if (returns && returned_.value && returns->value) {
    frame_->locals[returned_.value] = value(*returns->value);
    given_[returned_.value] = returns->value;
  }
  if (returns && returned_.flag)
    frame_->locals[returned_.flag] = number(dims_.constant(1));
  if (leaves_ && stmt.kind != StmtKind::Continue)
    frame_->locals[leaves_] = number(dims_.constant(1));
}

/// Statements up to the one that leaves the round of a loop, or the program.
void Placer::sequence(const Statements &stmts) {
  static const BreakStmt leavesLoop;
  for (size_t i = 0; i < stmts.size(); ++i) {
    const Stmt &stmt = *stmts[i];
    Statements rest(stmts.begin() + static_cast<ptrdiff_t>(i) + 1, stmts.end());
    if (isLoopThatReturns(stmt)) {
      expectReturn(stmt);
      statement(stmt);
      // Only if the loop has not returned does what stands behind it take place, and the round of a loop around it go on.
      return ChoiceWalk(*this).choice(*hasReturned(stmt),
                                      leaves_ ? Statements{&leavesLoop} : Statements(), rest);
    }
    if (!leaves(stmt)) {
      statement(stmt);
      continue;
    }
    if (const auto *choice = dyn_cast<IfStmt>(&stmt))
      return ChoiceWalk(*this).choice(*choice, rest);
    if (const auto *block = dyn_cast<BlockStmt>(&stmt))
      return sequence(joined(block->block, rest));
    return jump(stmt);
  }
}

/// The values of a `fn` in one of two ways, as a condition decides.
std::vector<ValueId> Placer::either(const Expr &condition, const std::string &user,
                                    const CallExpr &expr,
                                    const std::function<std::vector<ValueId>(bool)> &walk) {
  ChoiceWalk walker(*this);
  PlacedChoice choice{&condition, walker.condition(condition, user)};
  std::vector<ValueId> ends[2];
  for (bool isThen : {true, false})
    walker.arm(choice, isThen, [&]() -> std::optional<ValueId> {
      ends[isThen] = walk(isThen);
      return std::nullopt;
    });
  std::string name = "what `" + expr.callee->name + "` gives";
  std::vector<ValueId> all;
  for (size_t each = 0; each < ends[0].size(); ++each) {
    ReportedValue thenAs{&placed_.values[ends[1][each]], name, "", std::nullopt};
    ReportedValue otherAs{&placed_.values[ends[0][each]], name, "", std::nullopt};
    all.push_back(walker.chosen(choice, ends[1][each], ends[0][each], name, thenAs, otherAs));
  }
  choice.end = static_cast<ValueId>(placed_.values.size());
  placed_.choices.push_back(std::move(choice));
  return all;
}

/// The values of a `fn`, whose statements these are.
std::vector<ValueId> Placer::results(const Statements &stmts, const Expr *last,
                                     const CallExpr &expr) {
  for (size_t i = 0; i < stmts.size(); ++i) {
    const Stmt &stmt = *stmts[i];
    Statements rest(stmts.begin() + static_cast<ptrdiff_t>(i) + 1, stmts.end());
    if (const auto *given = dyn_cast<ReturnStmt>(&stmt); given && given->value)
      return values(*given->value);
    if (isLoopThatReturns(stmt)) {
      expectReturn(stmt);
      statement(stmt);
      ValueId value = frame_->locals.at(returned_.value);
      return either(*hasReturned(stmt), "this loop", expr, [&](bool hasReturned) {
        return hasReturned ? std::vector{value} : results(rest, last, expr);
      });
    }
    if (!leaves(stmt)) {
      statement(stmt);
      continue;
    }
    if (const auto *block = dyn_cast<BlockStmt>(&stmt))
      return results(joined(block->block, rest), last, expr);
    // What follows the `if` is placed behind both arms: an arm that returns does not get there.
    const auto &leaving = cast<IfStmt>(stmt);
    return either(*leaving.condition, "this `if`", expr, [&](bool isThen) {
      return results(joined(isThen ? leaving.thenBlock : leaving.elseBlock, rest), last, expr);
    });
  }
  if (!last)
    refuse(expr, "`" + expr.callee->name + "`", "it returns no value");
  return values(*last);
}

} // namespace ptl
