#include "frontend/sema/placement/place_choice.h"

#include "frontend/sema/placement/place_leave.h"
#include "frontend/sema/placement/place_loop.h"

#include <utility>

namespace ptl {

ValueId ChoiceWalk::condition(const Expr &expr, const std::string &user) {
  // All parts come to a choice, also in a section for one of them.
  std::optional<Placer::Section> section = p_.section_;
  if (p_.own_.empty())
    p_.section_ = std::nullopt;
  ValueId id = p_.value(expr);
  p_.section_ = section;
  const Placement &placement = p_.placed_.values[id].placement;
  for (size_t level = 0; level < placement.size(); ++level) {
    // In the body of a `parallel` over parts each part goes its own way, in a section those of its part.
    bool isOfSection =
        p_.around_ && p_.around_->level == level && placement[level] == p_.around_->at;
    if (placement[level].isWhole() || placement[level].isOwn || isOfSection)
      continue;
    ReportedValue value = p_.reported(expr, id);
    p_.reports_.needsWhole(level, p_.spanOf(expr), user,
                           "its condition is " + p_.reports_.describe(level, *value.value) +
                               ", but all parts must take the same path",
                           value);
    throw Refused();
  }
  return id;
}

ChoiceWalk::ArmEnd ChoiceWalk::arm(PlacedChoice &choice, bool isThen,
                                   const std::function<std::optional<ValueId>()> &walk) {
  std::map<const Local *, ValueId> locals = p_.frame_->locals;
  std::map<const Local *, const Expr *> given = std::exchange(p_.given_, {});
  PlacedValue begin;
  begin.kind = PlacedKind::Arm;
  begin.elem = ElemKind::Bool;
  begin.operands = {choice.holds};
  // Values from here up to the next such mark are computed only if the arm is taken: who executes the list skips them otherwise.
  (isThen ? choice.first : choice.otherwise) = p_.add(std::move(begin));
  ArmEnd end;
  end.value = walk();
  end.locals = std::exchange(p_.frame_->locals, std::move(locals));
  end.given = std::exchange(p_.given_, std::move(given));
  choice.chosen = static_cast<ValueId>(p_.placed_.values.size());
  return end;
}

ValueId ChoiceWalk::chosen(PlacedChoice &choice, ValueId then, ValueId otherwise,
                           const std::string &name, const ReportedValue &thenAs,
                           const ReportedValue &otherwiseAs) {
  PlacedValue made;
  made.kind = PlacedKind::Chosen;
  made.elem = p_.placed_.values[then].elem;
  made.shape = p_.placed_.values[then].shape;
  made.placement = p_.placed_.values[then].placement;
  made.operands = {then, otherwise};
  // What follows is placed once, whichever arm was taken, so both values must lie in one way.
  for (size_t level = 0; level < p_.placed_.levels.size(); ++level) {
    auto both =
        agreed(p_.placed_.values[then].placement, p_.placed_.values[otherwise].placement, level);
    if (!both) {
      p_.reports_.arms(level, p_.spanOf(*choice.condition), name, thenAs, otherwiseAs);
      throw Refused();
    }
    made.placement[level] = *both;
  }
  return p_.add(std::move(made));
}

void ChoiceWalk::choice(const IfStmt &stmt, const Placer::Statements &rest) {
  choice(*stmt.condition, joined(stmt.thenBlock, rest), joined(stmt.elseBlock, rest));
}

void ChoiceWalk::choice(const Expr &holds, const Placer::Statements &thenStmts,
                        const Placer::Statements &otherwise) {
  PlacedMark mark = p_.placed_.mark();
  std::vector<const Local *> assigned;
  for (const Placer::Statements *stmts : {&thenStmts, &otherwise})
    for (const Stmt *each : *stmts)
      addAssigned(*each, assigned);
  // An arm that leaves the loop or the declaration sets flags, which so are chosen like any variable.
  std::vector<const Local *> flags = p_.returned_.all();
  if (p_.leaves_)
    flags.push_back(p_.leaves_);
  assigned.insert(assigned.end(), flags.begin(), flags.end());
  PlacedChoice choice{&holds, condition(holds, "this `if`")};
  auto walked = [&](bool isThen, const Placer::Statements &stmts) {
    return arm(choice, isThen, [&]() -> std::optional<ValueId> {
      p_.sequence(stmts);
      return std::nullopt;
    });
  };
  ArmEnd then = walked(true, thenStmts), other = walked(false, otherwise);
  // For a report; without a text if the arm leaves the variable as it was.
  auto armValue = [&](const ArmEnd &end, const Local &local) -> ReportedValue {
    ValueId id = end.locals.at(&local);
    auto given = end.given.find(&local);
    if (given != end.given.end() && given->second)
      return p_.reported(*given->second, id);
    return {&p_.placed_.values[id], "`" + local.name + "`", "", std::nullopt};
  };
  for (const Local *local : assigned) {
    auto a = then.locals.find(local), b = other.locals.find(local);
    // What only one arm knows is a name of its own.
    if (a == then.locals.end() || b == other.locals.end() || a->second == b->second)
      continue;
    if (choice.what.empty())
      choice.what = local->name;
    ValueId id = chosen(choice, a->second, b->second, "`" + local->name + "`",
                        armValue(then, *local), armValue(other, *local));
    p_.given_[local] = nullptr;
    if (auto output = p_.outputs_.find(local); output != p_.outputs_.end()) {
      p_.placed_.outputs[output->second] = id;
      p_.bind(*local, id);
    }
    p_.frame_->locals[local] = id;
  }
  choice.end = static_cast<ValueId>(p_.placed_.values.size());
  // A choice that decides nothing does nothing.
  if (choice.end == choice.chosen && !actsAfter(p_.placed_, mark))
    p_.placed_.backTo(mark);
  else
    p_.placed_.choices.push_back(std::move(choice));
}

ValueId ChoiceWalk::choice(const IfExpr &expr) {
  if (std::optional<PageForm> form = pageFormOf(expr, p_.sink_)) {
    if (p_.section_)
      refusePool(p_.sink_, p_.spanOf(*expr.condition), "`" + form->pool->name + "`",
                 "each part keeps its own block of a page, so pools cannot be used in sections");
    return PoolWalk(p_).page(expr, *form);
  }
  PlacedChoice choice{expr.condition, condition(*expr.condition, "this `if`")};
  // Both arms begin with the values from before the `if`, and none may change them: an `if` that
  // has a value becomes a choice between two values, where assignments of one arm would be lost.
  const std::map<const Local *, ValueId> before = p_.frame_->locals;
  auto walked = [&](bool isThen, const Block *block) {
    return arm(choice, isThen, [&]() -> std::optional<ValueId> {
      if (!block)
        return std::nullopt;
      p_.sequence(joined(block, {}));
      return block->value ? std::optional(p_.value(*block->value)) : std::nullopt;
    });
  };
  ArmEnd then = walked(true, expr.thenBlock), other = walked(false, expr.elseBlock);
  // Known variables must have the values that they had before.
  for (const ArmEnd *end : {&then, &other}) {
    bool assigns = !end->value;
    for (const auto &[local, id] : end->locals) {
      auto known = before.find(local);
      assigns |= known == before.end() ? p_.outputs_.contains(local) : known->second != id;
    }
    if (assigns)
      p_.refuse(expr, "this `if`",
                "an `if` with a value must not assign variables declared outside of its arms");
  }
  ValueId id = chosen(choice, *then.value, *other.value, "the value",
                      p_.reported(*expr.thenBlock->value, *then.value),
                      p_.reported(*expr.elseBlock->value, *other.value));
  p_.placed_.values[id].expr = &expr;
  choice.end = id + 1;
  p_.placed_.choices.push_back(std::move(choice));
  return id;
}

ValueId ChoiceWalk::logical(const LogicalExpr &expr) {
  std::string name = expr.isAnd ? "`and`" : "`or`";
  ValueId left = condition(*expr.lhs, name), right = 0;
  PlacedChoice choice{expr.lhs, left};
  auto walkRight = [&]() -> std::optional<ValueId> { return right = condition(*expr.rhs, name); };
  auto keepLeft = [&]() -> std::optional<ValueId> { return left; };
  arm(choice, true, expr.isAnd ? std::function<std::optional<ValueId>()>(walkRight) : keepLeft);
  arm(choice, false, expr.isAnd ? std::function<std::optional<ValueId>()>(keepLeft) : walkRight);
  ValueId id = chosen(choice, expr.isAnd ? right : left, expr.isAnd ? left : right, "the value",
                      p_.reported(*expr.lhs, left), p_.reported(*expr.rhs, right));
  p_.placed_.values[id].expr = &expr;
  choice.end = id + 1;
  p_.placed_.choices.push_back(std::move(choice));
  return id;
}

} // namespace ptl
