#include "frontend/sema/analysis/flow_loops.h"

#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/analysis/flow_access.h"
#include "frontend/sema/analysis/flow_walker.h"
#include "frontend/sema/context.h"

#include <algorithm>

namespace ptl {

/// Loops within loops whose reads wait for what earlier iterations wrote are walked twice each, up
/// to this depth.
static constexpr int kMostDoubtfulLoops = 5;

/// The state at the end of one iteration, of which the walk then knows what holds there.
static FlowState walkOnce(FlowContext &flow, const Block *body, FlowState entry, Jumps *jumps) {
  Known inside = flow.known();
  flow.state = std::move(entry);
  flow.jumps.emplace_back();
  walkBlock(flow, body);
  *jumps = std::move(flow.jumps.back());
  flow.jumps.pop_back();
  // Without `continue` there is one way to the end.
  if (jumps->continues.empty())
    return std::move(flow.state);
  // What holds at the end of the body need not hold where an iteration ended before it.
  std::vector<Way> ways = std::move(jumps->continues);
  ways.push_back({std::move(flow.state), flow.known()});
  joinWays(flow, nullptr, std::move(ways), std::move(inside));
  return std::move(flow.state);
}

static std::string unjoinedText(Unjoined why, const LoopDomain &domain) {
  std::string name =
      domain.var && !domain.var->name.empty() ? "`" + domain.var->name + "`" : "the loop";
  switch (why) {
  case Unjoined::MayNotRun:
    return "this loop may have no iteration";
  case Unjoined::TwoAxes:
    return name + " moves along two axes at once";
  case Unjoined::Gaps:
    return "the parts that neighbouring iterations of " + name +
           " write may leave gaps between them";
  case Unjoined::OtherValue:
    return "the position at which an iteration of " + name + " writes is known only at run time";
  }
  return {};
}

/// `before` and what the iterations add to it, of which each knows `inside`.
static FlowState joined(FlowContext &flow, const LoopDomain &domain, const FactSet &outside,
                        const FactSet &inside, bool isSoFar, const FlowState &before,
                        const FlowState &end) {
  FlowState result = before;
  // Arrays may have been tracked since `before` was taken.
  result.written.resize(flow.tracked.size());
  if (!end.isReachable)
    return result;
  Joiner joiner{inside, domain, outside, flow.data.values, isSoFar};
  for (size_t i = 0; i < end.written.size(); ++i) {
    const auto &old = i < before.written.size() ? before.written[i] : result.written[i];
    if (end.written[i] == old)
      // What the iteration has not changed needs no joining.
      continue;
    for (const Region &region : end.written[i]) {
      Unjoined why = Unjoined::Gaps;
      auto all = joiner.join(region, &why);
      if (all)
        // What all iterations together cover is added to what was there, by what is known where
        // it is claimed.
        Regions{joiner.held(), flow.tracked[i].local->type, flow.data.values}.add(result.written[i],
                                                                                  std::move(*all));
      // A part that cannot be joined is lost, and the reason is kept for the message.
      else if (!isSoFar && std::find(old.begin(), old.end(), region) == old.end())
        flow.tracked[i].drops.push_back(
            {domain.span, unjoinedText(why, domain), why == Unjoined::MayNotRun});
    }
  }
  return result;
}

static void leaveLoop(FlowContext &flow, const LoopDomain &domain, const FactSet &outside,
                      const FactSet &inside, const FlowState &before, FlowState &state) {
  state = joined(flow, domain, outside, inside, false, before, state);
  state.isReachable = true;
}

void walkFor(FlowContext &flow, const ForStmt &stmt) {
  readExpr(flow, stmt.head.iterable);
  if (stmt.checkpoint)
    readExpr(flow, stmt.checkpoint->every);
  LoopDomain domain = loopDomain(flow.ctx.dims, stmt.head);
  learnBoundsOf(flow, domain, stmt.head.iterable);
  Known outside = flow.known();
  domain.addFacts(flow.ctx.facts);
  Known inside = flow.known();
  FlowState before = flow.state;
  // Bounds that are known only at run time make the body conditional.
  flow.conditions += domain.hasHiddenBounds ? 1 : 0;
  Jumps jumps;
  size_t accesses = flow.frame ? flow.frame->accesses.size() : 0;
  size_t failures = flow.failures;
  // First without what earlier iterations wrote; only a read that needs it asks for a second walk.
  ++flow.muted;
  FlowState end = walkOnce(flow, stmt.body, before, &jumps);
  --flow.muted;
  if (flow.failures > failures && flow.muted < kMostDoubtfulLoops) {
    flow.failures = failures;
    // What earlier iterations have written counts only if the loop cannot have been left before.
    FlowState entry = jumps.breaks.empty()
                          ? joined(flow, domain, outside.facts, flow.ctx.facts, true, before, end)
                          : before;
    // The accesses of the first walk would be counted twice.
    if (flow.frame)
      flow.frame->accesses.erase(flow.frame->accesses.begin() + static_cast<ptrdiff_t>(accesses),
                                 flow.frame->accesses.end());
    // What one iteration adds is what the first walk found.
    Known atEnd = flow.known();
    flow.setKnown(std::move(inside));
    walkOnce(flow, stmt.body, std::move(entry), &jumps);
    flow.setKnown(std::move(atEnd));
  }
  flow.conditions -= domain.hasHiddenBounds ? 1 : 0;
  if (!jumps.breaks.empty()) {
    // After a `break` the number of iterations is not known.
    flow.state = before;
    for (Tracked &tracked : flow.tracked)
      tracked.drops.push_back({domain.span, "`break` may end this loop early", true});
  } else {
    leaveLoop(flow, domain, outside.facts, flow.ctx.facts, before, end);
    flow.state = std::move(end);
  }
  // Behind the loop the program goes on, even if an iteration returned.
  flow.state.isReachable = true;
  flow.setKnown(std::move(outside));
}

void walkWhile(FlowContext &flow, const WhileStmt &stmt) {
  readExpr(flow, stmt.condition);
  Known outside = flow.known();
  FlowState before = flow.state;
  // A loop that never ends by its condition is only left by `break`.
  bool isEndless = conditionProof(flow.ctx, stmt.condition) == Proof::True;
  assumeCondition(flow.ctx, stmt.condition);
  flow.conditions += 1;
  Jumps jumps;
  FlowState end = walkOnce(flow, stmt.body, before, &jumps);
  flow.conditions -= 1;
  if (isEndless) {
    joinWays(flow, nullptr, std::move(jumps.breaks), outside);
    flow.state.written.resize(flow.tracked.size());
  }
  // What holds in the body need not hold behind it.
  flow.setKnown(std::move(outside));
  if (isEndless)
    return;
  // What the body writes may not be written, because the condition may fail at once.
  for (size_t i = 0; i < end.written.size() && i < before.written.size(); ++i)
    if (end.isReachable && end.written[i] != before.written[i])
      flow.tracked[i].drops.push_back(
          {stmt.condition->span, "this loop may have no iteration", true});
  flow.state = std::move(before);
}

void walkParallel(FlowContext &flow, const ParallelStmt &stmt) {
  std::unique_ptr<ParallelFrame> outer = std::move(flow.frame);
  // Accesses are collected per grid; those of an outer grid are kept.
  Known around = flow.known();
  flow.frame.reset(new ParallelFrame{&stmt, {}, around.facts, around.contents, 0, {}});
  std::vector<FactSet> outside; ///< of each head
  for (const LoopHead &head : stmt.heads) {
    readExpr(flow, head.iterable);
    flow.frame->heads.push_back(loopDomain(flow.ctx.dims, head));
    learnBoundsOf(flow, flow.frame->heads.back(), head.iterable);
    outside.push_back(flow.ctx.facts);
    flow.frame->heads.back().addFacts(flow.ctx.facts);
  }
  // Facts from here on are those of one point.
  flow.frame->factCount = flow.ctx.facts.facts().size();
  FlowState before = flow.state;
  int conditions = flow.conditions;
  // Conditions around the grid do not distinguish its points.
  flow.conditions = 0;
  Jumps jumps;
  FlowState end = walkOnce(flow, stmt.body, before, &jumps);
  flow.conditions = conditions;
  // The innermost variable is joined first. What its points know says nothing of an iteration of an
  // outer one that has no points.
  outside.push_back(flow.ctx.facts);
  for (size_t i = stmt.heads.size(); i-- > 0;)
    leaveLoop(flow, flow.frame->heads[i], outside[i], outside[i + 1], before, end);
  flow.state = std::move(end);
  flow.setKnown(std::move(around));
  // Points of an ordered grid may depend on each other.
  if (flow.checked.insert(&stmt).second && !flow.ctx.orderedParallels.contains(&stmt))
    checkIndependence(flow.ctx, *flow.frame, flow.data);
  // What the points of an inner one do is done by the iteration around them.
  if (outer)
    for (Access &access : flow.frame->accesses) {
      access.isConditional |= conditions > 0;
      outer->accesses.push_back(std::move(access));
    }
  flow.frame = std::move(outer);
}

} // namespace ptl
