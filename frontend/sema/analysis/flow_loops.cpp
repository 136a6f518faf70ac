// Loops: what one iteration surely writes, and what all of them do.
#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/analysis/flow_walker.h"
#include "frontend/sema/context.h"

#include <algorithm>

namespace ptl {

/// Loops within loops whose reads wait for what earlier iterations wrote are walked twice each, up
/// to this depth.
static constexpr int maxDoubtfulLoops = 5;

/// What holds on every way that leads here.
FlowState FlowWalker::meet(const std::vector<FlowState> &states) {
  FlowState result;
  result.isReachable = false;
  for (const FlowState &state : states)
    if (state.isReachable)
      result = merge(nullptr, std::move(result), ctx_.facts, state, ctx_.facts);
  return result;
}

/// The state at the end of one iteration.
FlowState FlowWalker::bodyOnce(const Block *body, FlowState entry, Jumps *jumps) {
  state_ = std::move(entry);
  jumps_.emplace_back();
  block(body);
  *jumps = std::move(jumps_.back());
  jumps_.pop_back();
  if (jumps->continues.empty())
    return std::move(state_);
  jumps->continues.push_back(std::move(state_));
  return meet(jumps->continues);
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
    return "what neighbouring iterations of " + name + " write need not adjoin";
  case Unjoined::OtherValue:
    return "where an iteration of " + name + " writes is known only when it runs";
  }
  return {};
}

/// `before` and what the iterations add to it.
FlowState FlowWalker::joined(const LoopDomain &domain, const FactSet &outside, bool isSoFar,
                             const FlowState &before, const FlowState &end) {
  FlowState result = before;
  result.written.resize(tracked_.size());
  if (!end.isReachable)
    return result;
  Joiner joiner{ctx_.facts, domain, outside, data_.values, isSoFar};
  for (size_t i = 0; i < end.written.size(); ++i) {
    const auto &old = i < before.written.size() ? before.written[i] : result.written[i];
    if (end.written[i] == old)
      continue;
    for (const Region &region : end.written[i]) {
      Unjoined why = Unjoined::Gaps;
      auto all = joiner.join(region, &why);
      if (all)
        regions(tracked_[i].local).add(result.written[i], std::move(*all));
      else if (!isSoFar && std::find(old.begin(), old.end(), region) == old.end())
        tracked_[i].drops.push_back(
            {domain.span, unjoinedText(why, domain), why == Unjoined::MayNotRun});
    }
  }
  return result;
}

void FlowWalker::leaveLoop(const LoopDomain &domain, const FactSet &outside,
                           const FlowState &before, FlowState &state) {
  state = joined(domain, outside, false, before, state);
  state.isReachable = true;
}

void FlowWalker::loop(const ForStmt &stmt) {
  read(stmt.head.iterable);
  LoopDomain domain = loopDomain(ctx_.dims, stmt.head);
  learnBoundsOf(domain, stmt.head.iterable);
  FactSet outside = ctx_.facts;
  domain.addFacts(ctx_.facts);
  FactSet inside = ctx_.facts;
  FlowState before = state_;
  conditions_ += domain.hasHiddenBounds ? 1 : 0;
  Jumps jumps;
  size_t accesses = frame_ ? frame_->accesses.size() : 0;
  size_t failures = failures_;
  // First without what earlier iterations wrote; only a read that needs it asks for a second walk.
  ++muted_;
  FlowState end = bodyOnce(stmt.body, before, &jumps);
  --muted_;
  if (failures_ > failures && muted_ < maxDoubtfulLoops) {
    failures_ = failures;
    FlowState entry = jumps.breaks.empty() ? joined(domain, outside, true, before, end) : before;
    if (frame_)
      frame_->accesses.erase(frame_->accesses.begin() + static_cast<ptrdiff_t>(accesses),
                             frame_->accesses.end());
    // What one iteration adds is what the first walk found.
    FactSet atEnd = ctx_.facts;
    ctx_.facts = inside;
    bodyOnce(stmt.body, std::move(entry), &jumps);
    ctx_.facts = atEnd;
  }
  conditions_ -= domain.hasHiddenBounds ? 1 : 0;
  if (!jumps.breaks.empty()) {
    state_ = before;
    for (Tracked &tracked : tracked_)
      tracked.drops.push_back({domain.span, "`break` may end this loop early", true});
  } else {
    leaveLoop(domain, outside, before, end);
    state_ = std::move(end);
  }
  state_.isReachable = true;
  ctx_.facts = outside;
}

void FlowWalker::whileLoop(const WhileStmt &stmt) {
  read(stmt.condition);
  FactSet outside = ctx_.facts;
  FlowState before = state_;
  bool isEndless = conditionProof(ctx_, stmt.condition) == Proof::True;
  assumeCondition(ctx_, stmt.condition);
  conditions_ += 1;
  Jumps jumps;
  FlowState end = bodyOnce(stmt.body, before, &jumps);
  conditions_ -= 1;
  ctx_.facts = outside;
  if (isEndless) {
    state_ = meet(jumps.breaks);
    state_.written.resize(tracked_.size());
    return;
  }
  for (size_t i = 0; i < end.written.size() && i < before.written.size(); ++i)
    if (end.isReachable && end.written[i] != before.written[i])
      tracked_[i].drops.push_back({stmt.condition->span, "this loop may have no iteration", true});
  state_ = std::move(before);
}

void FlowWalker::parallel(const ParallelStmt &stmt) {
  std::unique_ptr<ParallelFrame> outer = std::move(frame_);
  frame_.reset(new ParallelFrame{&stmt, {}, ctx_.facts, 0, {}});
  std::vector<FactSet> outside; ///< of each head
  for (const LoopHead &head : stmt.heads) {
    read(head.iterable);
    frame_->heads.push_back(loopDomain(ctx_.dims, head));
    learnBoundsOf(frame_->heads.back(), head.iterable);
    outside.push_back(ctx_.facts);
    frame_->heads.back().addFacts(ctx_.facts);
  }
  frame_->factCount = ctx_.facts.facts().size();
  FlowState before = state_;
  int conditions = conditions_;
  conditions_ = 0;
  Jumps jumps;
  FlowState end = bodyOnce(stmt.body, before, &jumps);
  conditions_ = conditions;
  for (size_t i = stmt.heads.size(); i-- > 0;)
    leaveLoop(frame_->heads[i], outside[i], before, end);
  state_ = std::move(end);
  ctx_.facts = frame_->outside;
  if (checked_.insert(&stmt).second && !ctx_.orderedParallels.contains(&stmt))
    checkIndependence(ctx_, *frame_, data_);
  // What the points of an inner one do is done by the iteration around them.
  if (outer)
    for (Access &access : frame_->accesses) {
      access.isConditional |= conditions > 0;
      outer->accesses.push_back(std::move(access));
    }
  frame_ = std::move(outer);
}

} // namespace ptl
