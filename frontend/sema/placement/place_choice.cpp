// The walk over the body of a program: choices between two arms. All parts take the same one, and what both leave lies in one
// way.
#include "frontend/sema/placement/place_leave.h"
#include "frontend/sema/placement/place_loop.h"
#include "frontend/sema/placement/placer.h"

#include <utility>

namespace ptl {

/// The value of a condition, which is the same on all parts.
ValueId Placer::condition(const Expr &expr, const std::string &user) {
  // All parts come to a choice, also in a section for one of them.
  std::optional<Section> section = std::exchange(section_, std::nullopt);
  ValueId id = value(expr);
  section_ = section;
  const Placement &placement = placed_.values[id].placement;
  for (size_t level = 0; level < placement.size(); ++level)
    if (!placement[level].isWhole()) {
      ReportedValue value = reported(expr, id);
      reports_.needsWhole(level, spanOf(expr), user,
                          "its condition is " + reports_.describe(level, *value.value) +
                              ", but all parts must take the same path",
                          value);
      throw Refused();
    }
  return id;
}

/// Walks over one arm; afterwards names stand for what they stood for before.
Placer::ArmEnd Placer::arm(PlacedChoice &choice, bool isThen,
                           const std::function<std::optional<ValueId>()> &walk) {
  std::map<const Local *, ValueId> locals = frame_->locals;
  std::map<const Local *, const Expr *> given = std::exchange(given_, {});
  PlacedValue begin;
  begin.kind = PlacedKind::Arm;
  begin.elem = ElemKind::Bool;
  begin.operands = {choice.holds};
  (isThen ? choice.first : choice.otherwise) = add(std::move(begin));
  ArmEnd end;
  end.value = walk();
  end.locals = std::exchange(frame_->locals, std::move(locals));
  end.given = std::exchange(given_, std::move(given));
  choice.chosen = static_cast<ValueId>(placed_.values.size());
  return end;
}

/// The value of the arm that is taken.
ValueId Placer::chosen(PlacedChoice &choice, ValueId then, ValueId otherwise,
                       const std::string &name, const ReportedValue &thenAs,
                       const ReportedValue &otherwiseAs) {
  PlacedValue made;
  made.kind = PlacedKind::Chosen;
  made.elem = placed_.values[then].elem;
  made.shape = placed_.values[then].shape;
  made.placement = placed_.values[then].placement;
  made.operands = {then, otherwise};
  for (size_t level = 0; level < placed_.levels.size(); ++level) {
    auto both = agreed(placed_.values[then].placement, placed_.values[otherwise].placement, level);
    if (!both) {
      reports_.arms(level, spanOf(*choice.condition), name, thenAs, otherwiseAs);
      throw Refused();
    }
    made.placement[level] = *both;
  }
  return add(std::move(made));
}

/// A choice of statements. `rest` has those behind it, which stand in each arm that comes to them, if an arm leaves a loop or the
/// declaration; otherwise it has none.
void Placer::choice(const IfStmt &stmt, const Statements &rest) {
  PlacedMark mark = placed_.mark();
  std::vector<const Local *> assigned;
  addAssigned(stmt.thenBlock, assigned);
  addAssigned(stmt.elseBlock, assigned);
  for (const Stmt *each : rest)
    addAssigned(*each, assigned);
  if (leaves_)
    assigned.push_back(leaves_);
  PlacedChoice choice{stmt.condition, condition(*stmt.condition, "this `if`")};
  auto walked = [&](bool isThen, const Block *block) {
    return arm(choice, isThen, [&]() -> std::optional<ValueId> {
      sequence(joined(block, rest));
      return std::nullopt;
    });
  };
  ArmEnd then = walked(true, stmt.thenBlock), other = walked(false, stmt.elseBlock);
  // For a report; without a text if the arm leaves the variable as it was.
  auto armValue = [&](const ArmEnd &end, const Local &local) -> ReportedValue {
    ValueId id = end.locals.at(&local);
    auto given = end.given.find(&local);
    if (given != end.given.end() && given->second)
      return reported(*given->second, id);
    return {&placed_.values[id], "`" + local.name + "`", "", std::nullopt};
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
    given_[local] = nullptr;
    if (auto output = outputs_.find(local); output != outputs_.end()) {
      placed_.outputs[output->second] = id;
      bind(*local, id);
    }
    frame_->locals[local] = id;
  }
  choice.end = static_cast<ValueId>(placed_.values.size());
  // A choice that decides nothing does nothing.
  if (choice.end == choice.chosen && placed_.asserts.size() == mark.asserts)
    placed_.backTo(mark);
  else
    placed_.choices.push_back(std::move(choice));
}

ValueId Placer::choice(const IfExpr &expr) {
  if (std::optional<PageForm> form = pageFormOf(expr, sink_)) {
    if (section_)
      refusePool(sink_, spanOf(*expr.condition), "`" + form->pool->name + "`",
                 "each part keeps its own block of a page, so pools cannot be used in sections");
    return PoolWalk(*this).page(expr, *form);
  }
  PlacedChoice choice{expr.condition, condition(*expr.condition, "this `if`")};
  // Both arms begin with the values from before the `if`, and none may change them: an `if` that
  // has a value becomes a choice between two values, where assignments of one arm would be lost.
  const std::map<const Local *, ValueId> before = frame_->locals;
  auto walked = [&](bool isThen, const Block *block) {
    return arm(choice, isThen, [&]() -> std::optional<ValueId> {
      if (!block)
        return std::nullopt;
      sequence(joined(block, {}));
      return block->value ? std::optional(value(*block->value)) : std::nullopt;
    });
  };
  ArmEnd then = walked(true, expr.thenBlock), other = walked(false, expr.elseBlock);
  for (const ArmEnd *end : {&then, &other}) {
    bool assigns = !end->value;
    for (const auto &[local, id] : end->locals) {
      auto known = before.find(local);
      assigns |= known == before.end() ? outputs_.contains(local) : known->second != id;
    }
    if (assigns)
      refuse(expr, "this `if`",
             "an `if` with a value must not assign variables declared outside of its arms");
  }
  ValueId id = chosen(choice, *then.value, *other.value, "the value",
                      reported(*expr.thenBlock->value, *then.value),
                      reported(*expr.elseBlock->value, *other.value));
  placed_.values[id].expr = &expr;
  choice.end = id + 1;
  placed_.choices.push_back(std::move(choice));
  return id;
}

/// The right side counts, and is computed, only where the left one does not decide.
ValueId Placer::logical(const LogicalExpr &expr) {
  std::string name = expr.isAnd ? "`and`" : "`or`";
  ValueId left = condition(*expr.lhs, name), right = 0;
  PlacedChoice choice{expr.lhs, left};
  auto walkRight = [&]() -> std::optional<ValueId> { return right = condition(*expr.rhs, name); };
  auto keepLeft = [&]() -> std::optional<ValueId> { return left; };
  arm(choice, true, expr.isAnd ? std::function<std::optional<ValueId>()>(walkRight) : keepLeft);
  arm(choice, false, expr.isAnd ? std::function<std::optional<ValueId>()>(keepLeft) : walkRight);
  ValueId id = chosen(choice, expr.isAnd ? right : left, expr.isAnd ? left : right, "the value",
                      reported(*expr.lhs, left), reported(*expr.rhs, right));
  placed_.values[id].expr = &expr;
  choice.end = id + 1;
  placed_.choices.push_back(std::move(choice));
  return id;
}

} // namespace ptl
