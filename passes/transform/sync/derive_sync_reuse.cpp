// An event may be set again only when the last wait for it is over: what that needs, and ids in
// common where they are few.
#include "passes/transform/sync/derive_sync_phases.h"

using namespace mlir;

namespace ptl::pto {

void BodyOrder::addReuse(Pipe src, Pipe dst, Step waited, Step setAgain, bool carried,
                         Reason reason) {
  reason.reuse = true;
  reason.carried = carried;
  // A wait at an item's step stands for all inside it, so the event is set behind the item: step 7 of the item plus 2 is `Set` in the gap
  // behind it.
  Step set = waited % 8 == Execute ? waited + 2 : stepOf(gapOf(waited), PostSet);
  addNeed({src, dst, waited, set, stepOf(gapOf(setAgain), PreWait), carried, -1, reason});
}

// Whether the set of an event may come before the wait for its last use; then that is forbidden by
// a new need.
bool BodyOrder::reuseEvent(Event &event) {
  size_t waiter = pipeIndex(event.dst);
  if (event.carried) {
    // The setter knows that the wait is over, so it may set again.
    if (known_.clockAt(event.src, event.setStep).over[waiter] > event.waitStep)
      return false;
    addReuse(event.dst, event.src, event.waitStep, event.setStep, false, event.reason);
    return true;
  }
  // The next set comes in a later iteration, so knowledge of the past counts.
  const Knowledge::Past &past = known_.pastAt(event.src, event.setStep);
  // Ids of slots that an earlier round chose are chosen again, since what is known has changed.
  event.frame = -1;
  event.slots = 1;
  if (past.previous.over[waiter] > event.waitStep)
    return false;
  // If only iterations with the same slot are known to be over, each slot gets its own id.
  if (policy_.of(event.src, event.dst) < Effort::Plain)
    for (auto [index, clock] : llvm::enumerate(past.frames)) {
      int64_t count = body_.frames[index].count;
      if (clock.over[waiter] > event.waitStep && (event.frame < 0 || count < event.slots)) {
        event.frame = static_cast<int>(index);
        event.slots = count;
      }
    }
  if (event.frame >= 0)
    return false;
  addReuse(event.dst, event.src, event.waitStep, event.setStep, true, event.reason);
  return true;
}

// Events inside an item, where the next round of the item must not set what this one has not waited
// for.
bool BodyOrder::reuseItems() {
  bool added = false;
  for (int item = 0; item < numItems(); ++item) {
    const ItemEffect &effect = effects_[static_cast<size_t>(item)];
    auto settle = [&](Pipe src, Pipe dst, Step waited, const Reason &reason) {
      // The waits of the last round have to be over before the events inside are set again.
      if (known_.pastAt(src, stepOf(item, FirstSet)).previous.over[pipeIndex(dst)] > waited)
        return;
      addReuse(dst, src, waited, stepOf(item, FirstSet), true, reason);
      added = true;
    };
    for (const ItemEffect::Drain &drain : effect.drains)
      settle(drain.src, drain.dst, stepOf(item + 1, PreWait), drain.reason);
    if (!effect.selfOrdered)
      for (auto &[pair, reason] : effect.pending)
        settle(pipeAt(pair / kNumPipes), pipeAt(pair % kNumPipes), stepOf(item, Execute), reason);
  }
  return added;
}

// Events that follow each other share ids: half of them are free again when the waits for them are
// known to be over.
bool BodyOrder::shareIds(llvm::ArrayRef<Event *> events, size_t ids) {
  bool added = false;
  Pipe src = events.front()->src, dst = events.front()->dst;
  Step known = kNever; // what needs that were just added will tell
  for (size_t i = 0; i < events.size(); ++i) {
    Event &event = *events[i];
    event.shared = static_cast<int>(i % ids);
    event.frame = -1;
    event.slots = 1;
    if (i < ids) {
      // Event i takes the id that the last event with the same remainder had in the iteration
      // before.
      size_t last = i + (events.size() - 1 - i) / ids * ids; // of the iteration before
      Step waited = events[last]->waitStep;
      if (known_.pastAt(src, event.setStep).previous.over[pipeIndex(dst)] <= waited) {
        addReuse(dst, src, waited, event.setStep, true, event.reason);
        added = true;
      }
      continue;
    }
    Step waited = events[i - ids]->waitStep;
    if (std::max(known, known_.clockAt(src, event.setStep).over[pipeIndex(dst)]) > waited)
      continue;
    if (gapOf(waited) >= gapOf(event.setStep)) { // too many at a time
      hopeless_.push_back(pairIndex(src, dst));
      return false;
    }
    // Waiting for a later wait frees several ids with one event.
    Step later = events[i - ids + (ids - 1) / 2]->waitStep;
    if (gapOf(later) < gapOf(event.setStep))
      waited = later;
    addReuse(dst, src, waited, event.setStep, false, event.reason);
    known = waited + 1;
    added = true;
  }
  return added;
}

bool BodyOrder::shareIds() {
  std::map<size_t, std::vector<Event *>> byPair;
  for (Event &event : events_)
    if (!event.carried && event.resource < 0 && policy_.shared(event.src, event.dst))
      byPair[pairIndex(event.src, event.dst)].push_back(&event);
  bool added = false;
  for (auto &[pair, events] : byPair) {
    llvm::stable_sort(events, [](auto *a, auto *b) { return a->setStep < b->setStep; });
    added |= shareIds(events, static_cast<size_t>(policy_.shared(events[0]->src, events[0]->dst)));
  }
  return added;
}

// ---- buffers that are used in turns -------------------------------------------------------------

// Users of a buffer follow its first fill, which follows the users of the turn before; reading what
// a fill wrote is a dependence of its own.
void BodyOrder::setPhases(llvm::ArrayRef<Phase> phases, llvm::ArrayRef<Resource> resources) {
  phases_ = phases;
  resources_ = resources;
  for (const Phase &phase : phases) {
    const Resource &resource = resources[static_cast<size_t>(phase.resource)];
    for (size_t pipe = 0; pipe < kNumPipes; ++pipe) {
      if (!resource.users[pipe])
        continue;
      const Phase::Use &use = phase.uses[pipe];
      // The users wait for the first fill of the turn, which itself waits for the end of the last
      // one.
      addNeed({resource.filler,
               pipeAt(pipe),
               stepOf(phase.first, Execute),
               stepOf(phase.first + 1, Set),
               stepOf(use.first, Wait),
               false,
               -1,
               {phase.firstTouch, use.firstTouch, Hazard::RAW}});
      if (!resource.tells[pipe])
        continue;
      Event event;
      event.src = pipeAt(pipe);
      event.dst = resource.filler;
      // The user tells the filler when it is done with the buffer, for the next turn.
      event.setStep = stepOf(use.last + 1, Set);
      event.waitStep = stepOf(phase.first, Wait);
      event.carried = true;
      event.frame = phase.frame;
      event.slots = resource.slots;
      event.resource = phase.resource;
      event.slot = phase.slot;
      // Outside of a loop, or where the slot does not follow the iterations, any earlier turn may have set the event.
      event.blind = !body_.loop || (phase.frame < 0 && !phase.steady);
      event.reason = {use.lastTouch, phase.firstTouch, Hazard::WAR, false, true, resource.slots};
      addSeed(event);
    }
  }
}

// Whether an event's next set, in another turn of the phase's buffer, comes after this turn's wait:
// who sets has then waited for who fills, who has waited for a user that knows of the wait.
bool BodyOrder::isFreeBy(const Event &event, const Phase &phase) const {
  const Resource &resource = resources_[static_cast<size_t>(phase.resource)];
  // The set must come after the filler's wait at the begin of the turn, directly or by what is
  // known.
  Step begin = stepOf(phase.first, Wait);
  bool begun =
      event.src == resource.filler
          ? begin < event.setStep
          : known_.clockAt(event.src, event.setStep).over[pipeIndex(resource.filler)] > begin;
  if (!begun)
    return false;
  for (size_t pipe = 0; pipe < kNumPipes; ++pipe) {
    if (!resource.tells[pipe])
      continue;
    // Some user must tell the end of the turn only after the event's wait.
    Step end = stepOf(phase.uses[pipe].last + 1, Set);
    if (pipeAt(pipe) == event.dst
            ? event.waitStep < end
            : known_.clockAt(pipeAt(pipe), end).over[pipeIndex(event.dst)] > event.waitStep)
      return true;
  }
  return false;
}

// Events within a turn share the ids of all turns of the buffer; first that of their dependence.
void BodyOrder::giveTurns() {
  std::map<std::pair<const Phase *, size_t>, int> numbers;
  for (Event &event : events_) {
    if (event.carried || event.resource >= 0)
      continue;
    const Phase *best = nullptr;
    // The event of the turn's own dependence comes first, then buffers with fewer slots, which take
    // fewer ids.
    auto rank = [&](const Phase &phase) {
      bool own = event.reason.dst == phase.firstTouch ||
                 llvm::any_of(phase.uses, [&](const Phase::Use &use) {
                   return use.firstTouch && use.firstTouch == event.reason.dst;
                 });
      return std::pair(!own, resources_[static_cast<size_t>(phase.resource)].slots);
    };
    for (const Phase &phase : phases_)
      if (isFreeBy(event, phase) && (!best || rank(phase) < rank(*best)))
        best = &phase;
    if (!best)
      continue;
    // Many within a turn do with a few ids, where these are short.
    int &number = numbers[{best, pairIndex(event.src, event.dst)}];
    if (number > 0 && policy_.shared(event.src, event.dst))
      continue;
    event.resource = best->resource;
    event.slots = resources_[static_cast<size_t>(best->resource)].slots;
    event.slot = best->slot;
    event.frame = -1;
    event.number = number++;
  }
}

// The operation that signals the end of a turn must follow the wait at the turn's start.
bool BodyOrder::reuseTurns() {
  bool added = false;
  for (Event &event : events_)
    if (event.carried && event.resource >= 0)
      added |= reuseEvent(event);
  return added;
}

bool BodyOrder::makeReusable() {
  // Events that are free by a turn need no further order, so they are found first.
  giveTurns();
  bool added = reuseItems();
  for (Event &event : events_)
    if (event.carried || (event.resource < 0 && !policy_.shared(event.src, event.dst)))
      added |= reuseEvent(event);
  return shareIds() || added;
}

} // namespace ptl::pto
