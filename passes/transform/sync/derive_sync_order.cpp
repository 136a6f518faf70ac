// Vector clocks over the steps of a body: an event is made only for what its waiter does not know
// already.
#include "passes/transform/sync/derive_sync_order.h"

using namespace mlir;

namespace ptl::pto {

static void merge(Clock &into, const Clock &from) {
  // The join of two clocks is their maximum in each component.
  for (size_t i = 0; i < kNumPipes; ++i) {
    into.done[i] = std::max(into.done[i], from.done[i]);
    into.over[i] = std::max(into.over[i], from.over[i]);
  }
}

// Whether that is enough for a need: where events are used again, waits count, not instructions.
static bool covers(const Clock &clock, const Need &need) {
  // A clock holds the step up to which a pipe is done, exclusively; the need wants more than its
  // step.
  return (need.reason.reuse ? clock.over : clock.done)[pipeIndex(need.src)] > need.srcStep;
}

// ---- needs --------------------------------------------------------------------------------------

void BodyOrder::addNeed(Need need) {
  // Within a pipe no event helps, only a barrier does.
  need.barrier = need.src == need.dst || policy_.of(need.src, need.dst) == Effort::Barriers;
  // A barrier stands behind the waits of the same gap.
  if (need.barrier && need.waitStep % 8 == Wait)
    need.waitStep += Barrier - Wait;
  needs_.push_back(need);
}

void BodyOrder::addDependence(const Dependence &dependence) {
  bool carried = dependence.carried;
  // Boxes of global memory may be apart for the inner loop and not for this one.
  if (carried && dependence.srcItem == dependence.dstItem && !dependence.src->isGlobal() &&
      effects_[static_cast<size_t>(dependence.srcItem)].selfOrdered)
    return;
  // From an earlier to a later item of the next iteration: the order within an iteration is as good, since the later item of this iteration
  // comes before that of the next one on its pipe. It needs no first set.
  if (carried && dependence.srcItem < dependence.dstItem)
    carried = false;
  Need need{dependence.src->pipe,
            dependence.dst->pipe,
            stepOf(dependence.srcItem, Execute),
            stepOf(dependence.srcItem + 1, Set),
            stepOf(dependence.dstItem, Wait),
            carried,
            carried ? dependence.frame : -1,
            {dependence.src, dependence.dst, dependence.hazard, false, carried, 1}};
  // With little effort left, slots are not told apart, so that one id is enough.
  if (policy_.of(need.src, need.dst) >= Effort::Unrotated)
    need.frame = -1;
  if (need.frame >= 0)
    need.reason.distance = body_.frames[static_cast<size_t>(need.frame)].count;
  addNeed(need);
}

Event BodyOrder::eventOf(const Need &need) const {
  Event event;
  event.src = need.src;
  event.dst = need.dst;
  event.setStep = need.setStep;
  event.waitStep = need.waitStep;
  event.carried = need.carried;
  event.frame = need.frame;
  event.reason = need.reason;
  if (need.frame >= 0)
    event.slots = body_.frames[static_cast<size_t>(need.frame)].count;
  return event;
}

// ---- clocks -------------------------------------------------------------------------------------

template <typename T>
static const T &entryBefore(const std::vector<std::pair<Step, T>> &log, Step step) {
  // The log begins with an entry at `kNever`, so there is always one before.
  auto at = std::partition_point(log.begin(), log.end(),
                                 [&](const auto &entry) { return entry.first < step; });
  return std::prev(at)->second;
}
template <typename T>
static void append(std::vector<std::pair<Step, T>> &log, Step step, const T &value) {
  // Several changes in one step count as one; the last is what holds after it.
  if (log.back().first == step)
    log.back().second = value;
  else
    log.push_back({step, value});
}

const Clock &Knowledge::clockAt(Pipe pipe, Step step) const {
  return entryBefore(clocks[pipeIndex(pipe)], step);
}
const Knowledge::Past &Knowledge::pastAt(Pipe pipe, Step step) const {
  return entryBefore(pasts[pipeIndex(pipe)], step);
}
void Knowledge::note(Pipe pipe, Step step) {
  append(clocks[pipeIndex(pipe)], step, now[pipeIndex(pipe)]);
}
void Knowledge::notePast(Pipe pipe, Step step) {
  append(pasts[pipeIndex(pipe)], step, past[pipeIndex(pipe)]);
}

Clock Knowledge::contribution(Pipe src, Step setStep) const {
  Clock clock = clockAt(src, setStep);
  // The set itself tells that all of its pipe before it is done.
  clock.raise(pipeIndex(src), setStep);
  return clock;
}

Step BodyOrder::lastBefore(Pipe pipe, int item) const {
  const std::vector<int> &items = itemsOf_[pipeIndex(pipe)];
  auto at = llvm::lower_bound(items, item);
  return at == items.begin() ? kNever : stepOf(*std::prev(at), Execute);
}

bool BodyOrder::knowsAllAtEnd(Pipe pipe, Pipe of) const {
  Step last = lastBefore(of, numItems());
  return last == kNever || known_.now[pipeIndex(pipe)].done[pipeIndex(of)] > last;
}

void Knowledge::learn(const Event &event) {
  merge(now[pipeIndex(event.dst)], contribution(event.src, event.setStep));
  // The waiter knows it from the wait on.
  note(event.dst, event.waitStep);
}

void Knowledge::applyBarrier(const BarrierPoint &barrier) {
  for (size_t pipe = 0; pipe < kNumPipes; ++pipe) {
    if (!barrier.all && pipeAt(pipe) != Pipe::V)
      continue;
    if (barrier.all)
      // A barrier of all pipes lets each of them know all of the others.
      now[pipe].fill(barrier.step);
    now[pipe].set(pipe, barrier.step);
    note(pipeAt(pipe), barrier.step);
  }
}

// What an item that has bodies tells at its end.
void BodyOrder::applyItem(int item) {
  const ItemEffect &effect = effects_[static_cast<size_t>(item)];
  const Item &what = body_.items[static_cast<size_t>(item)];
  if (what.pipe)
    return;
  for (size_t of = 0; of < kNumPipes; ++of)
    for (size_t who = 0; who < kNumPipes; ++who) {
      // Nothing is learned from an item that has no instruction of the pipe.
      if (!what.instructions[of] || !effect.knows[of * kNumPipes + who])
        continue;
      Step before = lastBefore(pipeAt(of), item);
      // A clock is a prefix, so the item only counts for a pipe that knows all that came before it.
      if (before == kNever || known_.now[who].done[of] > before) {
        known_.now[who].done[of] = stepOf(item + 1, PreWait);
        known_.note(pipeAt(who), stepOf(item, Execute));
      }
    }
  for (const ItemEffect::Drain &drain : effect.drains) {
    Clock clock = known_.contribution(drain.src, stepOf(item, FirstSet));
    // The events that end behind a loop also tell what was done inside it. Where their own loop is an inner one, it may not have run: its
    // instructions are done all the same, but the pipe's waits elsewhere in the item need not be over.
    if (drain.covers)
      (drain.own ? clock.over : clock.done)[pipeIndex(drain.src)] =
          clock.done[pipeIndex(drain.src)] = stepOf(item + 1, PreWait);
    merge(known_.now[pipeIndex(drain.dst)], clock);
    known_.note(drain.dst, stepOf(item + 1, PreWait));
  }
}

// ---- within an iteration ------------------------------------------------------------------------

/// What is asked for at one step of one pipe, without the needs that the others meet. The clock that an event hands on is less than all
/// that its setter will have told, so each need that goes is checked against all that were asked for.
template <typename Meets>
static llvm::SmallVector<const Need *> withoutNeedless(llvm::ArrayRef<const Need *> asked,
                                                       Meets meets) {
  llvm::SmallVector<const Need *> chosen(asked);
  for (const Need *need : asked) {
    llvm::SmallVector<const Need *> rest;
    // The list is short, so quadratic time does not matter.
    llvm::copy_if(chosen, std::back_inserter(rest),
                  [&](const Need *other) { return other != need; });
    bool enough = llvm::all_of(asked, [&](const Need *wanted) {
      return llvm::any_of(rest, [&](const Need *other) { return meets(*other, *wanted); });
    });
    if (enough)
      chosen = rest;
  }
  return chosen;
}

/// The barrier that the open needs of a group ask for, if there is any. One of all pipes serves
/// those of the vector pipe, too.
template <typename IsOpen>
static std::optional<BarrierPoint> barrierFor(llvm::ArrayRef<const Need *> group, IsOpen isOpen) {
  auto across = llvm::find_if(
      group, [&](const Need *need) { return need->src != need->dst && isOpen(need); });
  auto found = across != group.end() ? across : llvm::find_if(group, isOpen);
  if (found == group.end())
    return std::nullopt;
  return BarrierPoint{group.front()->waitStep, across != group.end(), (*found)->reason};
}

void BodyOrder::forwardGroup(llvm::ArrayRef<const Need *> group) {
  const Need &first = *group.front();
  Clock &now = known_.now[pipeIndex(first.dst)];
  auto open = [&](const Need *need) { return !covers(now, *need); };
  if (first.barrier) {
    if (std::optional<BarrierPoint> barrier = barrierFor(group, open)) {
      barriers_.push_back(*barrier);
      known_.applyBarrier(*barrier);
    }
    return;
  }
  // Of needs from one pipe, the latest implies the others, since the pipe is in order.
  std::array<const Need *, kNumPipes> latest{};
  for (const Need *need : group)
    if (const Need *&mine = latest[pipeIndex(need->src)];
        open(need) && (!mine || need->srcStep > mine->srcStep))
      mine = need;
  llvm::SmallVector<const Need *> asked;
  llvm::copy_if(latest, std::back_inserter(asked),
                [](const Need *need) { return need != nullptr; });
  // An event hands on all that its setter knew at the set, so it may meet needs from other pipes, too.
  auto meets = [&](const Need &other, const Need &wanted) {
    return covers(known_.contribution(other.src, other.setStep), wanted);
  };
  for (const Need *need : withoutNeedless(asked, meets)) {
    // The event counts as known at once, so that later needs see it.
    events_.push_back(eventOf(*need));
    known_.learn(events_.back());
  }
}

namespace {
/// Needs, seeds and kept barriers in the order of their steps.
struct Agenda {
  std::vector<const Need *> needs;
  std::vector<const Event *> seeds;
  std::vector<const BarrierPoint *> barriers;
};
} // namespace

// Groups of needs of equal step and pipe, one after the other. A pipe's barriers are a group of
// their own.
template <typename F> static void forGroups(std::vector<const Need *> &needs, F visit) {
  llvm::stable_sort(needs, [](const Need *a, const Need *b) {
    return std::tuple(a->waitStep, a->dst, a->barrier) <
           std::tuple(b->waitStep, b->dst, b->barrier);
  });
  for (size_t i = 0; i < needs.size();) {
    size_t j = i;
    while (j < needs.size() && needs[j]->waitStep == needs[i]->waitStep &&
           needs[j]->dst == needs[i]->dst && needs[j]->barrier == needs[i]->barrier)
      ++j;
    visit(needs[i]->waitStep, llvm::ArrayRef(needs).slice(i, j - i));
    i = j;
  }
}

void BodyOrder::runForward() {
  events_.clear();
  barriers_.clear();
  // At its start a pipe knows nothing of the others.
  for (size_t pipe = 0; pipe < kNumPipes; ++pipe) {
    known_.now[pipe].fill(kNever);
    known_.clocks[pipe].assign(1, {kNever, known_.now[pipe]});
  }
  Agenda agenda;
  for (const Need &need : needs_)
    if (!need.carried)
      agenda.needs.push_back(&need);
  for (auto *seeds : {&seeds_, &merged_})
    for (const Event &seed : *seeds)
      if (!seed.carried)
        agenda.seeds.push_back(&seed);
  llvm::stable_sort(agenda.seeds, [](auto *a, auto *b) { return a->waitStep < b->waitStep; });
  for (const BarrierPoint &barrier : kept_)
    agenda.barriers.push_back(&barrier);
  int item = 0;
  auto seed = agenda.seeds.begin();
  auto kept = agenda.barriers.begin();
  // The three lists are merged by their steps, so that knowledge grows in the order of time.
  auto advance = [&](Step step) {
    for (bool more = true; more;) {
      Step atSeed = seed == agenda.seeds.end() ? kAll : (*seed)->waitStep;
      Step atKept = kept == agenda.barriers.end() ? kAll : (*kept)->step;
      Step atItem = item == numItems() ? kAll : stepOf(item, Execute);
      Step next = std::min({atSeed, atKept, atItem});
      if ((more = next <= step && next != kAll)) {
        if (next == atItem) {
          applyItem(item++);
        } else if (next == atSeed) {
          events_.push_back(**seed++);
          known_.learn(events_.back());
        } else {
          barriers_.push_back(**kept++);
          known_.applyBarrier(barriers_.back());
        }
      }
    }
  };
  // A group is decided when all before it is known.
  forGroups(agenda.needs, [&](Step step, llvm::ArrayRef<const Need *> group) {
    advance(step);
    forwardGroup(group);
  });
  // What comes behind the last need still has to be entered.
  advance(kAll - 1);
}

// Runs of events in order that may join: the latest producer before the earliest consumer. One event
// alone is no run.
void BodyOrder::mergeRuns(llvm::ArrayRef<const Event *> events,
                          llvm::function_ref<bool(const Event &, const Event &)> joins) {
  for (size_t i = 0; i < events.size();) {
    Event one = *events[i];
    size_t next = i + 1;
    for (; next < events.size() && joins(one, *events[next]); ++next) {
      // The joined event is set where the last producer is done and awaited where the first
      // consumer begins.
      one.setStep = std::max(one.setStep, events[next]->setStep);
      one.waitStep = std::min(one.waitStep, events[next]->waitStep);
    }
    if (next > i + 1)
      merged_.push_back(one);
    i = next;
  }
}

// Events of pairs whose ids run short: the latest producer before the earliest consumer, for as
// many as that is possible for.
bool BodyOrder::mergeForward() {
  std::array<std::vector<const Event *>, kNumPairs> byPair;
  for (const Event &event : events_)
    if (!event.carried && event.resource < 0 && policy_.of(event.src, event.dst) >= Effort::Merged)
      byPair[pairIndex(event.src, event.dst)].push_back(&event);
  size_t before = merged_.size();
  for (auto &events : byPair) {
    llvm::stable_sort(events, [](auto *a, auto *b) { return a->setStep < b->setStep; });
    // The set has to stay before the wait, or the joined event would wait for itself.
    mergeRuns(events, [](const Event &one, const Event &next) {
      return std::max(one.setStep, next.setStep) < std::min(one.waitStep, next.waitStep);
    });
  }
  return merged_.size() != before;
}

// ---- between iterations -------------------------------------------------------------------------

static void learnAll(Knowledge::Past &past, Pipe of) {
  past.previous.set(pipeIndex(of), kAll);
  for (Clock &clock : past.frames)
    clock.set(pipeIndex(of), kAll);
}

void BodyOrder::learnPast(const Event &event) {
  Knowledge::Past &past = known_.past[pipeIndex(event.dst)];
  // It is not known in which iteration the event was set, so it tells nothing of the previous one.
  if (event.blind)
    return;
  if (event.carried) {
    Clock clock = known_.contribution(event.src, event.setStep);
    // An event with a frame only tells of the iteration that had the same slot.
    merge(event.frame < 0 ? past.previous : past.frames[static_cast<size_t>(event.frame)], clock);
  } else {
    // Within an iteration the waiter learns what the setter knew of the past, and that the setter's
    // own earlier iterations are over.
    const Knowledge::Past &source = known_.pastAt(event.src, event.setStep);
    merge(past.previous, source.previous);
    for (auto [mine, theirs] : llvm::zip_equal(past.frames, source.frames))
      merge(mine, theirs);
    learnAll(past, event.src);
  }
  known_.notePast(event.dst, event.waitStep);
}

void BodyOrder::applyBarrierPast(const BarrierPoint &barrier) {
  for (size_t pipe = 0; pipe < kNumPipes; ++pipe) {
    if (!barrier.all && pipeAt(pipe) != Pipe::V)
      continue;
    for (size_t of = 0; of < kNumPipes; ++of)
      if (barrier.all || of == pipe)
        learnAll(known_.past[pipe], pipeAt(of));
    known_.notePast(pipeAt(pipe), barrier.step);
  }
}

void BodyOrder::applyItemPast(int item) {
  for (const ItemEffect::Drain &drain : effects_[static_cast<size_t>(item)].drains) {
    Knowledge::Past &past = known_.past[pipeIndex(drain.dst)];
    const Knowledge::Past &source = known_.pastAt(drain.src, stepOf(item, FirstSet));
    merge(past.previous, source.previous);
    for (auto [mine, theirs] : llvm::zip_equal(past.frames, source.frames))
      merge(mine, theirs);
    learnAll(past, drain.src);
    known_.notePast(drain.dst, stepOf(item + 1, PreWait));
  }
}

void BodyOrder::carriedGroup(llvm::ArrayRef<const Need *> group) {
  const Need &first = *group.front();
  Knowledge::Past &past = known_.past[pipeIndex(first.dst)];
  auto open = [&](const Need *need) {
    // A need with a frame is met by the last iteration as well, since that is later than the one
    // with the slot.
    return !covers(past.previous, *need) &&
           (need->frame < 0 || !covers(past.frames[static_cast<size_t>(need->frame)], *need));
  };
  if (first.barrier) {
    if (std::optional<BarrierPoint> barrier = barrierFor(group, open)) {
      barriers_.push_back(*barrier);
      applyBarrierPast(*barrier);
    }
    return;
  }
  std::map<std::pair<Pipe, int>, const Need *> latest;
  for (const Need *need : group)
    if (open(need)) {
      const Need *&mine = latest.try_emplace({need->src, need->frame}, need).first->second;
      if (need->srcStep > mine->srcStep)
        mine = need;
    }
  llvm::SmallVector<const Need *> asked;
  for (auto &[key, need] : latest)
    asked.push_back(need);
  auto meets = [&](const Need &other, const Need &wanted) {
    // An event without a frame tells of the last iteration, which is enough for any frame.
    return (other.frame < 0 || other.frame == wanted.frame) &&
           covers(known_.contribution(other.src, other.setStep), wanted);
  };
  for (const Need *need : withoutNeedless(asked, meets)) {
    events_.push_back(eventOf(*need));
    learnPast(events_.back());
  }
}

void BodyOrder::runCarried() {
  for (size_t pipe = 0; pipe < kNumPipes; ++pipe) {
    // What a pipe knows at the end of an iteration is what it knows of the previous one in the
    // next.
    known_.past[pipe].previous = known_.now[pipe];
    known_.past[pipe].frames.assign(body_.frames.size(), known_.now[pipe]);
    known_.pasts[pipe].assign(1, {kNever, known_.past[pipe]});
  }
  std::vector<const Need *> needs;
  for (const Need &need : needs_)
    if (need.carried)
      needs.push_back(&need);
  // The events within an iteration are fixed by now; they hand on knowledge of the past as well.
  std::vector<Event> fixed = events_;
  for (auto *seeds : {&seeds_, &merged_})
    for (const Event &seed : *seeds)
      // A carried seed holds from the first iteration on, so it hands on knowledge like the events within an iteration.
      if (seed.carried) {
        events_.push_back(seed);
        fixed.push_back(seed);
      }
  llvm::stable_sort(fixed, [](const Event &a, const Event &b) { return a.waitStep < b.waitStep; });
  std::vector<BarrierPoint> barriers = barriers_;
  llvm::stable_sort(barriers,
                    [](const BarrierPoint &a, const BarrierPoint &b) { return a.step < b.step; });
  auto event = fixed.begin();
  auto barrier = barriers.begin();
  int item = 0;
  auto advance = [&](Step step) {
    for (bool more = true; more;) {
      Step atEvent = event == fixed.end() ? kAll : event->waitStep;
      Step atBarrier = barrier == barriers.end() ? kAll : barrier->step;
      Step atItem = item == numItems() ? kAll : stepOf(item, Execute);
      Step next = std::min({atEvent, atBarrier, atItem});
      if ((more = next <= step && next != kAll)) {
        if (next == atItem)
          applyItemPast(item++);
        else if (next == atEvent)
          learnPast(*event++);
        else
          applyBarrierPast(*barrier++);
      }
    }
  };
  forGroups(needs, [&](Step step, llvm::ArrayRef<const Need *> group) {
    advance(step);
    carriedGroup(group);
  });
  advance(kAll - 1);
}

// Whether one event can do the work of two: the waiter waits for nothing else between, so the first
// wait would not have let it get far.
bool BodyOrder::isAdjacent(const Event &a, const Event &b) const {
  Step from = std::min(a.waitStep, b.waitStep), to = std::max(a.waitStep, b.waitStep);
  return llvm::none_of(events_, [&](const Event &other) {
    return other.dst == a.dst && from < other.waitStep && other.waitStep < to;
  });
}

// Each slot costs an id, so events of slots that join the same pipes become one where that costs
// nothing, and where ids are short all do.
bool BodyOrder::mergeCarried() {
  std::map<std::tuple<Pipe, Pipe, int>, std::vector<const Event *>> byKind;
  for (const Event &event : events_)
    if (event.carried && event.resource < 0 &&
        (event.frame >= 0 || policy_.of(event.src, event.dst) >= Effort::Merged))
      byKind[{event.src, event.dst, event.frame}].push_back(&event);
  size_t before = merged_.size();
  for (auto &[kind, events] : byKind) {
    bool all = policy_.of(std::get<0>(kind), std::get<1>(kind)) >= Effort::Merged;
    llvm::stable_sort(events, [](auto *a, auto *b) { return a->waitStep < b->waitStep; });
    mergeRuns(events,
              [&](const Event &one, const Event &next) { return all || isAdjacent(one, next); });
  }
  return merged_.size() != before;
}

// A barrier for what the previous iteration did also serves this one, so the others are chosen
// again.
bool BodyOrder::keepBarriers() {
  size_t before = kept_.size();
  for (const BarrierPoint &barrier : barriers_)
    if (barrier.reason.carried &&
        llvm::none_of(kept_, [&](auto &kept) { return kept.step == barrier.step; }))
      kept_.push_back(barrier);
  llvm::stable_sort(kept_,
                    [](const BarrierPoint &a, const BarrierPoint &b) { return a.step < b.step; });
  return kept_.size() != before;
}

bool BodyOrder::solve() {
  // The items of a pipe are looked up by binary search (`lastBefore`).
  for (auto &items : itemsOf_)
    items.clear();
  for (int item = 0; item < numItems(); ++item)
    for (size_t pipe = 0; pipe < kNumPipes; ++pipe)
      if (body_.items[static_cast<size_t>(item)].instructions[pipe])
        itemsOf_[pipe].push_back(item);
  // A solution usually takes a few rounds. The bound only ends a search that alternates between two states.
  constexpr int mostRounds = 64;
  hopeless_.clear();
  // Each round may find events that are set again too early, adds needs for these, and begins anew.
  for (int round = 0; round < mostRounds; ++round) {
    merged_.clear();
    kept_.clear();
    // The order within an iteration comes first, since knowledge of the past spreads along its
    // events.
    runForward();
    if (mergeForward())
      runForward();
    // A body that is no loop has no carried needs, except for turns of buffers around it.
    if (!body_.loop) {
      llvm::copy_if(seeds_, std::back_inserter(events_),
                    [](const Event &seed) { return seed.carried; });
      if (reuseTurns())
        continue;
      giveTurns();
      return true;
    }
    runCarried();
    // What was merged changes what is known, so both directions are derived again.
    if (bool merged = mergeCarried(), kept = keepBarriers(); merged || kept) {
      runForward();
      runCarried();
    }
    bool again = makeReusable();
    // These pairs cannot do with events, and the caller raises their effort.
    if (!hopeless_.empty())
      return false;
    if (!again)
      return true;
  }
  return false;
}

} // namespace ptl::pto
