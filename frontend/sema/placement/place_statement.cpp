// Statements of programs on parts that take several values apart, check something, or assign
// elements of an array.
#include "frontend/sema/placement/place_statement.h"

#include "frontend/sema/placement/place_expression.h"
#include "frontend/sema/placement/place_index.h"
#include "frontend/sema/placement/place_parts.h"
#include "frontend/sema/placement/place_section.h"

#include <utility>

namespace ptl {

/// `let (values, positions) = topk(x, 2)`.
void StatementWalk::letAll(const LetStmt &stmt) {
  std::vector<ValueId> all = p_.values(*stmt.value);
  if (all.size() != stmt.locals.size())
    p_.refuse(*stmt.value, "this declaration",
              "its values must be those of a call, or be written one by one");
  for (size_t i = 0; i < all.size(); ++i)
    p_.bind(*stmt.locals[i], all[i]);
}

const Block *blockAlwaysTaken(const Expr &expr) {
  const auto *choice = dyn_cast<IfExpr>(&expr);
  const auto *holds = choice ? dyn_cast<ConstExpr>(choice->condition) : nullptr;
  bool isTaken = holds && holds->intValue != 0 && choice->thenBlock && choice->thenBlock->value;
  return isTaken ? choice->thenBlock : nullptr;
}

std::vector<ValueId> StatementWalk::block(const Block &block) {
  p_.sequence({block.stmts.begin(), block.stmts.end()});
  return p_.values(*block.value);
}

/// Each part that has the condition checks it.
void StatementWalk::check(const AssertStmt &stmt) {
  PlacedValue made;
  made.kind = PlacedKind::Assert;
  made.elem = ElemKind::Bool;
  made.expr = stmt.condition;
  ValueId condition = p_.value(*stmt.condition);
  made.operands = {condition};
  made.placement = p_.placed_.values[condition].placement;
  for (size_t level = 0; level < p_.placed_.levels.size(); ++level)
    if (made.placement[level].isPartial()) {
      p_.reports_.partial(level, p_.spanOf(*stmt.condition),
                          p_.reported(*stmt.condition, condition), "`assert`");
      throw Refused();
    }
  PlacedAssert assert{0, &stmt};
  // What a comparison compares is part of the message, where every part that checks it has it.
  const PlacedValue &holds = p_.placed_.values[condition];
  if (const auto *compared = dyn_cast<OpExpr>(stmt.condition);
      compared && holds.kind == PlacedKind::Apply && !p_.outermost_)
    for (size_t i = 0; i < holds.operands.size() && i < compared->args.size(); ++i)
      if (std::optional<ValueId> id = holds.operands[i];
          id && p_.placed_.values[*id].kind != PlacedKind::Constant &&
          p_.placed_.values[*id].placement == made.placement) {
        made.operands.push_back(id);
        const Span &span = compared->args[i]->span;
        assert.names.emplace_back(p_.tree_.fileText().substr(span.begin, span.end - span.begin));
      }
  assert.value = p_.add(std::move(made));
  p_.placed_.asserts.push_back(std::move(assert));
}

/// The line is written by a part that has all operands; where several do, by the first of them.
void StatementWalk::print(const OpExpr &expr) {
  PlacedValue made;
  made.kind = PlacedKind::Print;
  made.elem = ElemKind::Bool;
  made.expr = &expr;
  made.placement.resize(p_.placed_.levels.size());
  if (p_.section_)
    made.placement[p_.section_->level] = p_.section_->at;
  for (const Expr *value : expr.rest) {
    ValueId id = p_.value(*value);
    made.operands.emplace_back(id);
    for (size_t level = 0; level < made.placement.size(); ++level) {
      const LevelPlacement &at = p_.placed_.values[id].placement[level];
      if (at.isPartial()) {
        p_.reports_.partial(level, p_.spanOf(*value), p_.reported(*value, id), "`print`");
        throw Refused();
      }
      LevelPlacement &have = made.placement[level];
      std::string where = "it is " + p_.reports_.describe(level, p_.placed_.values[id]);
      if (at.isCut())
        p_.refuse(*value, "`print` of this value",
                  where + "; `all_gather(…, over: " + p_.placed_.levels[level].name +
                      ")` brings all of it to every part");
      if (!at.isWhole() && !have.isWhole() && at != have)
        p_.refuse(*value, "`print` of this value",
                  where + ", and the rest of the line is elsewhere; print two lines");
      if (have.isWhole())
        have = at;
    }
  }
  p_.add(std::move(made));
}

/// Whether an assignment replaces all elements of a block by a value that lies where it does.
bool StatementWalk::isAll(const PlacedValue &index, ValueId have, ValueId given) const {
  const PlacedValue &block = p_.placed_.values[have], &value = p_.placed_.values[given];
  if (!index.positions.empty() || !index.selected.empty() || value.shape != block.shape)
    return false;
  for (size_t level = 0; level < p_.placed_.levels.size(); ++level)
    if (value.placement[level] != block.placement[level] &&
        !(value.placement[level].isWhole() && block.placement[level].isOwn))
      return false;
  return true;
}

/// `cache[:, step, :] = row`: the variable with other elements there.
void StatementWalk::store(const AssignStmt &stmt) {
  const auto *base = dyn_cast<LocalRefExpr>(stmt.place->base);
  PartsWalk parts(p_);
  parts.requireOwn(stmt);
  std::vector<IndexOrigin> origins = parts.originsOf(*stmt.place);
  bool isVar = stmt.target->kind == LocalKind::Var || p_.isKept(stmt.target);
  if ((!isVar && origins.empty()) || !base || stmt.mode != AssignMode::Set)
    p_.refuse(*stmt.value, "this assignment",
              "only elements of a `var`, and of a result with an initial value, can be assigned; "
              "other results are assigned whole");
  SectionWalk section(p_);
  std::optional<ValueId> ofStages = section.ofStages(stmt);
  ValueId have = ofStages          ? *ofStages
                 : origins.empty() ? p_.value(*base)
                                   : parts.blockOf(*stmt.place);
  ValueId given = p_.value(*stmt.value);
  if (ofStages)
    given = section.onItsPart(given);
  std::optional<PlacedIndex> index = placeIndex(
      p_.dims_, p_.placed_.values[have], *stmt.place, p_.frame_->prefix.size(),
      [&](Dim dim) { return p_.inProgram(dim); }, [&](Dim dim) { return p_.isKnown(dim); },
      [&](Dim dim) { return p_.isPosition(dim); }, IndexUse::Store, origins);
  if (!index)
    p_.refuse(*stmt.value, "this assignment",
              "the length of a slice must be computed from sizes and loop variables, and its "
              "beginning too, or be a number that all parts have");
  PlacedValue made = std::move(index->value);
  if (!origins.empty() && isAll(made, have, given)) {
    p_.frame_->locals[stmt.target] = p_.slice(given, p_.placed_.values[have].placement);
    p_.given_[stmt.target] = stmt.value;
    return;
  }
  AxisRule rule = storeRule(std::move(index->rule), made.shape, p_.placed_.values[given].shape);
  made.kind = PlacedKind::Store;
  made.shape = p_.placed_.values[have].shape;
  made.operands = {have, given};
  for (PlacedSelection &selection : made.selected)
    selection.operand += selection.operand > 0; // The value comes before the positions.
  std::vector<const Expr *> args = {base, stmt.value};
  for (const Expr *operand : index->operands) {
    made.operands.push_back(p_.value(*operand));
    args.push_back(operand);
  }
  std::string name(p_.tree_.text(stmt.place->syntax));
  made.placement = ExpressionWalk(p_).operandPlacements(
      {*stmt.place, p_.outermost_ ? "x[..]" : name, args},
      [&](std::span<const PlacedOperand> here) {
        // The part of the stage stores into its own block, and the others keep theirs.
        if (ofStages && here[1].placement == p_.section_->at) {
          PlacementVerdict verdict;
          verdict.result = here[0].placement;
          return verdict;
        }
        return placeIndexed(rule, here, 2);
      },
      made);
  p_.frame_->locals[stmt.target] = p_.add(std::move(made));
  p_.given_[stmt.target] = stmt.value;
}

} // namespace ptl
