#include "frontend/sema/placement/place_section.h"

#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/place_index.h"
#include "frontend/sema/placement/place_loop.h"
#include "frontend/sema/placement/placement_rules.h"
#include "frontend/sema/placement/placement_text.h"

#include <algorithm>

namespace ptl {

void SectionWalk::section(const BlockStmt &stmt) {
  const OnStmt &on = *stmt.section;
  auto level = std::ranges::find(p_.placed_.levels, on.core, &PlacedLevel::name);
  if (level == p_.placed_.levels.end()) {
    std::string known;
    for (const PlacedLevel &each : p_.placed_.levels)
      known += (known.empty() ? "`" : ", `") + each.name + "`";
    p_.sink_.report(
        DiagId::SectionNotHere, on.span,
        {"the arrays of this program lie over " + known + ", not over `" + on.core + "`"});
    throw Refused();
  }
  if (!on.stages.var && level->count && on.part >= *level->count) {
    p_.sink_.report(DiagId::SectionNotHere, on.span,
                    {"there is no " + on.core + " " + std::to_string(on.part) + " of " +
                     std::to_string(*level->count)});
    throw Refused();
  }
  // Until the end of the section the walk places each value on this part.
  p_.section_ =
      Placer::Section{static_cast<size_t>(level - p_.placed_.levels.begin()), onPart(on.part), &on};
  if (on.stages.var)
    stages(stmt);
  else
    for (const Stmt *each : stmt.block->stmts)
      p_.statement(*each);
  p_.section_.reset();
}

/// A value that is carried along the stages lies at the end of each on the part of the next one,
/// and behind the last stage on that stage's part.
void SectionWalk::stages(const BlockStmt &stmt) {
  const auto &loop = cast<ForStmt>(*stmt.block->stmts.back());
  const auto &range = cast<RangeExpr>(*loop.head.iterable);
  Dim one = p_.dims_.constant(1), turn = p_.dims_.symbolDim(*loop.head.var->symbol);
  Dim lo = p_.inProgram(range.lo->dim), count = p_.inProgram(range.hi->dim);
  Dim last = p_.dims_.sub(count, one);
  // On the way back the loop counts from the last stage, and its body begins with the number of the stage.
  bool isDown = loop.head.var != stmt.section->stages.var;
  Dim stage = isDown ? p_.dims_.sub(last, p_.dims_.sub(turn, lo)) : turn;
  auto onStage = [&](Dim of) {
    LevelPlacement at = onPart(0);
    at.stage = of;
    at.stages = count;
    return at;
  };
  // Each part must know how many stages there are without asking another one.
  if (!p_.isKnown(count) || !p_.isKnown(lo))
    p_.refuse(*loop.head.iterable, "these stages", "data decide how many there are");
  std::vector<const Local *> carried;
  p_.section_->at = onStage(isDown ? last : lo);
  for (size_t i = 0; i + 1 < stmt.block->stmts.size(); ++i) {
    const auto &var = cast<LetStmt>(*stmt.block->stmts[i]);
    ValueId pushed = p_.frame_->locals.at(cast<LocalRefExpr>(*var.value).local);
    carried.push_back(var.locals[0]);
    p_.frame_->locals[carried.back()] = sent(pushed, p_.section_->at, *var.value);
  }
  // The stage at the end has no next one: its value stays on its part.
  LevelPlacement next = onStage(isDown ? p_.dims_.max(p_.dims_.sub(stage, one), lo)
                                       : p_.dims_.min(p_.dims_.add(stage, one), last));
  p_.section_->at = onStage(stage);
  PlacedLoop placed;
  placed.stmt = &loop;
  placed.variable = *loop.head.var->symbol;
  placed.lo = lo;
  placed.hi = count;
  placed.step = one;
  p_.known_.insert(placed.variable);
  ++p_.loopDepth_;
  const Local *outside = std::exchange(p_.leaves_, nullptr);
  auto body = [&](PlacedLoop &) {
    for (const Stmt *each : loop.body->stmts)
      p_.statement(*each);
    for (const Local *local : carried)
      p_.frame_->locals[local] = sent(p_.frame_->locals[local], next, *p_.given_.at(local));
  };
  auto reported = [&](const Local *local, ValueId id) {
    auto given = p_.given_.find(local);
    return given != p_.given_.end() && given->second
               ? p_.reported(*given->second, id)
               : ReportedValue{&p_.placed_.values[id], "`" + local->name + "`", "", std::nullopt};
  };
  auto slice = [&](ValueId of, const Placement &to) { return p_.slice(of, to); };
  if (!placeLoop(std::move(placed),
                 {p_.placed_,
                  p_.frame_->locals,
                  loop.body,
                  body,
                  slice,
                  reported,
                  p_.reports_,
                  nullptr,
                  {},
                  LoopWalk::Stages{p_.section_->level, p_.section_->at, next, carried}}))
    throw Refused();
  // Another loop over the same stages may count them itself.
  if (isDown)
    p_.frame_->dims.erase(*stmt.section->stages.var->symbol);
  p_.leaves_ = outside;
  --p_.loopDepth_;
}

ValueId SectionWalk::onThisPart(const Expr &expr, ValueId id) {
  if (!p_.section_)
    return id;
  const LevelPlacement &at = p_.placed_.values[id].placement[p_.section_->level];
  if (at.isWhole() || at == p_.section_->at)
    return id;
  ReportedValue value = p_.reported(expr, id);
  const std::string &level = p_.placed_.levels[p_.section_->level].name;
  if (!p_.section_->on) {
    p_.sink_
        .report(DiagId::NotOnThisPart, p_.spanOf(expr),
                {value.name, p_.reports_.describe(p_.section_->level, *value.value), "the " + level,
                 "of a task"})
        .help("move it in front of the task, so that it is the same on all");
    throw Refused();
  }
  bool isForMany = p_.section_->on->stages.var != nullptr;
  auto report = p_.sink_.report(DiagId::NotOnThisPart, p_.spanOf(expr),
                                {value.name, p_.reports_.describe(p_.section_->level, *value.value),
                                 isForMany ? "the " + level : level,
                                 isForMany ? "of `" + p_.section_->on->stages.var->name + "`"
                                           : std::to_string(p_.section_->at.part)});
  if (at.isSingle())
    report.help("send it through a pipe: a section of the " + level + " that has it must push it");
  else if (at.isCut() && isForMany)
    report.help("an array whose first axis counts the stages has an element for each of them: `" +
                value.text + "[" + p_.section_->on->stages.var->name + ", ..]`");
  else
    report.help("move it before the section");
  throw Refused();
}

std::optional<PlacedValue> SectionWalk::ownElement(const IndexExpr &expr) {
  const auto *base = dyn_cast<LocalRefExpr>(expr.base);
  auto found = base && p_.section_ ? p_.frame_->locals.find(base->local) : p_.frame_->locals.end();
  if (found == p_.frame_->locals.end() || !p_.section_->at.stage)
    return std::nullopt;
  PlacedValue of = p_.placed_.values[found->second];
  LevelPlacement &at = of.placement[p_.section_->level];
  int64_t first = -static_cast<int64_t>(of.shape.size());
  bool isOwn = at.cuts(first) && of.shape[0] == p_.section_->at.stages && !expr.items.empty() &&
               expr.items[0].kind == IndexItemKind::Position && expr.items[0].value->dim &&
               p_.inProgram(expr.items[0].value->dim) == p_.section_->at.stage;
  at = {};
  if (!isOwn || std::ranges::any_of(of.placement, [&](auto &each) { return each.cuts(first); }))
    return std::nullopt;
  std::optional<PlacedIndex> index = placeIndex(
      p_.dims_, of, expr, p_.frame_->prefix.size(), [&](Dim dim) { return p_.inProgram(dim); },
      [&](Dim dim) { return p_.isKnown(dim); }, [&](Dim dim) { return p_.isKnown(dim); });
  if (!index || !index->operands.empty())
    return std::nullopt;
  PlacedValue made = std::move(index->value);
  for (LevelPlacement &level : made.placement) {
    PlacementVerdict verdict =
        placeIndexed(index->rule, std::vector<PlacedOperand>{{of.shape, level}});
    // Positions along an axis that another level cuts would count from the beginning of the part's block.
    if (verdict.kind != PlacementVerdict::Kind::Fine)
      return std::nullopt;
    level = verdict.result;
  }
  made.placement[p_.section_->level] = p_.section_->at;
  made.operands = {found->second};
  return made;
}

ValueId SectionWalk::task(const ConvertExpr &expr) {
  NodeId over = movementLevels(p_.tree_, expr)[0];
  auto level = std::ranges::find(p_.placed_.levels, p_.tree_.text(over), &PlacedLevel::name);
  auto refuse = [&](Span span, const std::string &why) {
    p_.sink_.report(DiagId::BadMovement, span, {"submit", why});
    throw Refused();
  };
  if (level == p_.placed_.levels.end())
    refuse(p_.tree_.span(over),
           "the arrays of this program lie over no `" + std::string(p_.tree_.text(over)) + "`");
  if (p_.section_)
    refuse(expr.span, p_.own_.empty() ? "it is inside another task"
                                      : "it is in the body of a `parallel`, which every part runs");
  if (p_.loopDepth_ > 0 && !p_.round_)
    refuse(expr.span, "tasks are distributed by the number of the iteration, which a `while` does "
                      "not have; use a `for`");
  LevelPlacement at = onPart(0);
  at.stage = p_.dims_.constant(p_.tasks_++);
  if (p_.round_)
    at.stage = p_.dims_.add(at.stage, p_.round_);
  // While the argument is placed, the walk is in a section of its own on the part that the task goes to.
  p_.section_ =
      Placer::Section{static_cast<size_t>(level - p_.placed_.levels.begin()), at, nullptr};
  ValueId made = p_.value(*expr.arg);
  Placement placement = p_.placed_.values[made].placement;
  placement[p_.section_->level] = at;
  made = p_.slice(made, placement);
  p_.section_.reset();
  return made;
}

ValueId SectionWalk::onItsPart(ValueId id) {
  Placement placement = p_.placed_.values[id].placement;
  placement[p_.section_->level] = p_.section_->at;
  return p_.slice(id, placement);
}

std::optional<ValueId> SectionWalk::ofStages(const AssignStmt &stmt) {
  const auto *base = dyn_cast<LocalRefExpr>(stmt.place->base);
  if (!base || !p_.section_ || !p_.section_->at.stages)
    return std::nullopt;
  ValueId have = p_.frame_->locals.at(base->local);
  Placement placement = p_.placed_.values[have].placement;
  LevelPlacement &at = placement[p_.section_->level];
  // A variable that one stage declares is on its part already.
  if (at == p_.section_->at)
    return std::nullopt;
  const std::vector<Dim> shape = p_.placed_.values[have].shape;
  int64_t first = -static_cast<int64_t>(shape.size());
  bool isFirstCut = std::ranges::any_of(
      placement, [&](const LevelPlacement &each) { return &each != &at && each.cuts(first); });
  const IndexItem &position = stmt.place->items[0];
  bool isOwn = shape[0] == p_.section_->at.stages && position.kind == IndexItemKind::Position &&
               position.value->dim && p_.inProgram(position.value->dim) == p_.section_->at.stage;
  if (!isOwn || isFirstCut || (!at.isWhole() && !at.cuts(first)))
    p_.refuse(stmt, "this assignment",
              "a stage can assign elements of its own only, of an array whose first axis counts "
              "the stages and is cut over the " +
                  partsText(p_.placed_.levels[p_.section_->level]) + " or nowhere");
  if (at.isWhole()) {
    at.kind = PlacementKind::Cut;
    at.axis = first;
    have = p_.slice(have, placement);
  }
  return have;
}

void SectionWalk::push(const BlockExpr &call) {
  p_.frame_->locals[call.value] = onItsPart(p_.value(*call.ins[0]));
}

ValueId SectionWalk::pop(const BlockExpr &call) {
  return sent(p_.frame_->locals.at(call.value), p_.section_->at, call);
}

ValueId SectionWalk::sent(ValueId id, const LevelPlacement &to, const Expr &expr) {
  Placement placement = p_.placed_.values[id].placement;
  if (placement[p_.section_->level] == to)
    return id;
  placement[p_.section_->level] = to;
  // A value that is the same on all parts is there already.
  if (!p_.placed_.values[id].placement[p_.section_->level].isSingle())
    return p_.slice(id, placement);
  PlacedValue made = p_.placed_.values[id];
  made.kind = PlacedKind::Move;
  made.expr = &expr;
  made.movement = &movementRecord(MovementId::Send);
  made.how = {};
  made.level = p_.section_->level;
  made.operands = {id};
  made.positions = {};
  made.over = {};
  made.placement = std::move(placement);
  return p_.add(std::move(made));
}

/// The levels whose parts the statements are for, one by one.
std::vector<size_t> SectionWalk::levelsOfParts() const {
  std::vector<size_t> levels;
  for (const Placer::OwnBody &body : p_.own_)
    levels.push_back(body.level);
  const std::optional<Placer::Section> &section = p_.own_.empty() ? p_.section_ : p_.around_;
  if (section)
    levels.push_back(section->level);
  return levels;
}

void SectionWalk::moveInSection(const Expr &expr, const MovementRecord &movement,
                                const std::vector<size_t> &over) {
  for (size_t level : levelsOfParts()) {
    const std::string &own = p_.placed_.levels[level].name;
    // Where data say how much moves, all parts ask each other.
    bool isOver = movement.takes == MovementTakes::Axes ||
                  (!p_.own_.empty() && movement.takes == MovementTakes::Rows) ||
                  std::ranges::find(over, level) != over.end();
    for (NodeId name : movementLevels(p_.tree_, expr))
      isOver |= p_.tree_.text(name) == own;
    if (!isOver)
      continue;
    std::string why =
        !p_.own_.empty() ? "each " + own +
                               " runs the body of this `parallel` for itself; what is "
                               "to be on others is moved outside"
        : p_.section_->on ? "a section runs on a single " + own +
                                ", and can only send data to others through a pipe"
                          : "a task runs on a single " + own +
                                ", and its arguments and its result are moved outside";
    p_.sink_.report(DiagId::BadMovement, expr.span, {std::string(movement.name), why});
    throw Refused();
  }
}

} // namespace ptl
