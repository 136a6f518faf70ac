#include "frontend/sema/placement/place_loop.h"

#include "frontend/sema/assigned.h"
#include "frontend/sema/placement/place_movement.h"
#include "frontend/sema/walk.h"

namespace ptl {

std::optional<LoopRounds> roundsOf(DimContext &dims, const ForStmt &stmt) {
  const LoopHead &head = stmt.head;
  LoopRounds rounds;
  if (const auto *tiles = dyn_cast<TilesExpr>(head.iterable); tiles && head.range) {
    rounds = {*head.range->start.symbol(), tiles->lo->dim, tiles->hi->dim, head.range->size,
              head.range};
  } else if (!head.var->symbol) {
    return std::nullopt;
  } else if (const auto *range = dyn_cast<RangeExpr>(head.iterable)) {
    rounds = {*head.var->symbol, range->lo->dim, range->hi->dim,
              range->step ? range->step->dim : dims.constant(1)};
  } else if (const RangeInfo *named = head.iterable->type->range) {
    rounds = {*head.var->symbol, named->start,
              dims.add(named->start, dims.mul(named->step, named->length)), named->step};
  }
  bool areSizes = rounds.lo && rounds.hi && rounds.step;
  return areSizes ? std::optional(rounds) : std::nullopt;
}

std::string whyNoLoop(DimContext &dims, const ForStmt &stmt) {
  if (!roundsOf(dims, stmt))
    return "loops of programs on parts must run over ranges or tiles whose bounds are sizes, "
           "as in `for i in 0..N`";
  if (stmt.checkpoint && !stmt.checkpoint->every->dim)
    return "the distance of its checkpoints is not a size";
  return {};
}

void addAssigned(const Block *block, std::vector<const Local *> &assigned) {
  if (block)
    for (const Stmt *stmt : block->stmts)
      addAssigned(*stmt, assigned);
}

void addAssigned(const Stmt &stmt, std::vector<const Local *> &assigned) {
  forEachAssigned(stmt, [&](const Assigned &each) {
    if (std::ranges::find(assigned, each.local) == assigned.end())
      assigned.push_back(each.local);
  });
}

bool actsAfter(const PlacedProgram &placed, const PlacedMark &mark) {
  return placed.asserts.size() > mark.asserts ||
         std::any_of(placed.values.begin() + static_cast<ptrdiff_t>(mark.values),
                     placed.values.end(),
                     [](const PlacedValue &each) { return each.kind == PlacedKind::Print; });
}

std::optional<LevelPlacement> agreed(const Placement &first, const Placement &next, size_t level) {
  if (first[level] == next[level])
    return first[level];
  auto isFree = [&](const Placement &whole, const LevelPlacement &to) {
    return whole[level].isWhole() &&
           (to.isSingle() || (to.isCut() && !cutInside(whole, level, to.axis)));
  };
  if (isFree(first, next[level]))
    return next[level];
  return isFree(next, first[level]) ? std::optional(first[level]) : std::nullopt;
}

/// Adds a loop whose values have been placed. One that carries nothing does nothing, and has no value
/// by which it could be found.
static bool finish(const LoopWalk &walk, PlacedLoop loop, const PlacedMark &mark) {
  PlacedProgram &placed = walk.placed;
  if (!loop.carried.empty()) {
    placed.loops.push_back(std::move(loop));
    return true;
  }
  if (actsAfter(placed, mark)) {
    walk.reports.noRule(loop.stmt ? loop.stmt->head.iterable->span : loop.condition->span,
                        "this loop", "it checks or prints something, and assigns no variable");
    return false;
  }
  placed.backTo(mark);
  return true;
}

bool placeLoop(PlacedLoop loop, const LoopWalk &walk) {
  PlacedProgram &placed = walk.placed;
  std::vector<const Local *> assigned;
  addAssigned(walk.block, assigned);
  if (walk.leaves)
    assigned.push_back(walk.leaves);
  assigned.insert(assigned.end(), walk.flags.begin(), walk.flags.end());
  const std::map<const Local *, ValueId> before = walk.locals;
  std::vector<Placement> placements;
  for (const Local *local : assigned)
    if (auto found = before.find(local); found != before.end()) {
      if (local == walk.leaves)
        loop.leaves = loop.carried.size();
      loop.carried.push_back({local, 0});
      placements.push_back(placed.values[found->second].placement);
    }
  PlacedMark mark = placed.mark();
  // Each round cuts something that was whole, so there is a last one.
  for (bool isSettled = false; !isSettled;) {
    placed.backTo(mark);
    walk.locals = before;
    std::vector<ValueId> initials;
    for (size_t i = 0; i < loop.carried.size(); ++i)
      initials.push_back(walk.slice(before.at(loop.carried[i].local), placements[i]));
    loop.first = static_cast<ValueId>(placed.values.size());
    for (size_t i = 0; i < loop.carried.size(); ++i) {
      PlacedValue value = placed.values[initials[i]];
      value.kind = PlacedKind::Carried;
      value.operands = {initials[i]};
      value.param = loop.carried[i].local;
      if (walk.stages && walk.stages->passes(walk.stages->level, value.param))
        value.placement[walk.stages->level] = walk.stages->at;
      walk.locals[loop.carried[i].local] = static_cast<ValueId>(placed.values.size());
      placed.values.push_back(std::move(value));
    }
    walk.body(loop);
    isSettled = true;
    for (size_t i = 0; i < loop.carried.size(); ++i) {
      const Local *local = loop.carried[i].local;
      ValueId next = walk.locals.at(local);
      for (size_t level = 0; level < placed.levels.size(); ++level) {
        if (walk.stages && walk.stages->passes(level, local))
          continue;
        auto both = agreed(placements[i], placed.values[next].placement, level);
        // The next round has its tasks on other parts.
        bool isOfRound = both && both->stage && loop.stmt && both->stage.mentions(loop.variable);
        if (!both || isOfRound) {
          ReportedValue reported = walk.reported(local, next);
          walk.reports.carried(level, reported.written.value_or(walk.block->span), local->name,
                               placed.values[loop.first + i], reported);
          return false;
        }
        isSettled &= *both == placements[i][level];
        placements[i][level] = *both;
      }
      Placement end = placements[i];
      if (walk.stages && walk.stages->passes(walk.stages->level, local))
        end[walk.stages->level] = walk.stages->next;
      loop.carried[i].next = walk.slice(next, end);
    }
  }
  loop.end = static_cast<ValueId>(placed.values.size());
  walk.locals = before;
  for (size_t i = 0; i < loop.carried.size(); ++i)
    walk.locals[loop.carried[i].local] = loop.first + static_cast<ValueId>(i);
  for (size_t i = 0; i < loop.carried.size() && loop.every; ++i)
    for (size_t level = 0; level < placed.levels.size(); ++level)
      if (placements[i][level].isPartial()) {
        walk.reports.noRule(loop.stmt->checkpoint->span, "a checkpoint",
                            "`" + loop.carried[i].local->name + "` is " +
                                walk.reports.describe(level, placed.values[loop.first + i]) +
                                ", and has no value on another number of parts");
        return false;
      }
  return finish(walk, std::move(loop), mark);
}

} // namespace ptl
