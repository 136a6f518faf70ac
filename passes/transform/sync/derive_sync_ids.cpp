// All bodies of a function put in order, and ids for their events.
#include "passes/transform/sync/derive_sync.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::pto {

// ---- bodies, the inner ones first ---------------------------------------------------------------

static bool isLoop(const Item &item) { return isa<LoopLikeOpInterface>(item.op); }

/// Whether the first sets of a loop's events may stand further out: not where slots are counted
/// anew by each loop.
bool FunctionOrder::hoists(const Body &loop) const {
  for (const Event &event : orders_.at(&loop)->events()) {
    // Events of turns have their first sets around the outermost loop anyway.
    if (event.resource >= 0)
      continue;
    // The iteration's number counts anew in each round, so the slots do not go on from the last
    // round.
    if (event.frame >= 0 && !loop.frames[static_cast<size_t>(event.frame)].slot)
      return false;
    if (event.carried && policy_.of(event.src, event.dst) >= Effort::Unrotated)
      return false;
  }
  return true;
}

const Item *FunctionOrder::drainItem(const Body &loop) const {
  const Item *found = loop.parent;
  if (!hoists(loop))
    return found;
  // The first sets may stand around the outermost loop if the events go on from round to round.
  for (const Body *body = parents_.at(&loop); body->parent; body = parents_.at(body))
    if (isLoop(*body->parent))
      found = body->parent;
  return found;
}

const Item *FunctionOrder::drainItem(const Body &body, const Event &event) const {
  return event.resource < 0 ? drainItem(body)
                            : plan_.resources()[static_cast<size_t>(event.resource)].outer;
}

// The carried events inside `item` whose first sets stand around `around`.
void FunctionOrder::collectDrains(const Item &item, const Item &around,
                                  std::vector<ItemEffect::Drain> &drains) {
  for (auto &body : item.bodies) {
    if (body->loop || !plan_.phasesOf(*body).empty())
      for (const Event &event : of(*body).events())
        if (event.carried && drainItem(*body, event) == &around) {
          unsigned before = 0;
          // An event that follows all of its pipe's instructions says that the pipe is done with the item. Instructions are counted with
          // all that are inside of items, so equal numbers mean that none comes after the set.
          for (int i = 0; i < gapOf(event.setStep); ++i)
            before += body->items[static_cast<size_t>(i)].instructions[pipeIndex(event.src)];
          drains.push_back({event.src, event.dst,
                            before == around.instructions[pipeIndex(event.src)],
                            body->parent == &around, event.reason});
        }
    for (const Item &inner : body->items)
      collectDrains(inner, around, drains);
  }
}

ItemEffect FunctionOrder::effectOf(Item &item) {
  ItemEffect effect;
  if (item.pipe)
    return effect;
  collectDrains(item, item, effect.drains);
  effect.selfOrdered =
      item.bodies.size() == 1 && item.bodies.front()->loop && hoists(*item.bodies.front());
  // A `while` may leave in the middle, so nothing is known at its end.
  bool runsThrough = !isa<scf::WhileOp>(item.op);
  for (size_t from = 0; from < kNumPipes; ++from)
    for (size_t to = 0; to < kNumPipes; ++to)
      effect.knows[from * kNumPipes + to] =
          // All ways through the item have to know it.
          runsThrough && llvm::all_of(item.bodies, [&](auto &body) {
            return of(*body).knowsAllAtEnd(static_cast<Pipe>(to), static_cast<Pipe>(from));
          });
  for (auto &body : item.bodies) {
    BodyOrder &order = of(*body);
    for (const Event &event : order.events())
      if (event.resource < 0)
        effect.pending.try_emplace(pairIndex(event.src, event.dst), event.reason);
    // Loops that order their own rounds leave nothing pending.
    for (const ItemEffect &inner : order.effects())
      if (!inner.selfOrdered)
        effect.pending.insert(inner.pending.begin(), inner.pending.end());
  }
  return effect;
}

bool FunctionOrder::build(Body &body) {
  std::vector<ItemEffect> effects;
  // The inner bodies are solved first, since their effects are part of the outer order.
  bool solved = true;
  for (Item &item : body.items) {
    for (auto &inner : item.bodies) {
      parents_[inner.get()] = &body;
      solved &= build(*inner);
    }
  }
  // A body's effects need all orders inside.
  for (Item &item : body.items)
    effects.push_back(effectOf(item));
  auto order = std::make_unique<BodyOrder>(body, std::move(effects), policy_);
  for (const Dependence &dependence : program_.dependencesOf(body)) {
    if (!plan_.orders(body, dependence))
      order->addDependence(dependence);
    // Dependences that turns order count in the statistics, too.
    ++numDependences_;
  }
  order->setPhases(plan_.phasesOf(body), plan_.resources());
  if (!order->solve()) {
    solved = false;
    llvm::append_range(hopeless_, order->hopeless());
  }
  orders_[&body] = std::move(order);
  return solved;
}

FunctionOrder::WhileBarriers FunctionOrder::whileBarriers(const Item &item) {
  WhileBarriers barriers;
  // What the first body does is not told apart from what the second does, so a barrier stands
  // between them.
  barriers.between = !item.bodies.front()->items.empty() && !item.bodies.back()->items.empty();
  // A dependence between rounds needs a barrier at the end of each.
  for (const Dependence &dependence : program_.dependencesOfWhile(item)) {
    bool carried = dependence.carried;
    if (!barriers.why.src || carried)
      barriers.why = {dependence.src, dependence.dst, dependence.hazard, false, carried, 1};
    barriers.atEnd |= carried;
  }
  // An event inside may be set again in the next round before its wait, unless a barrier stands
  // between.
  for (auto &body : item.bodies)
    for (const Event &event : of(*body).events()) {
      barriers.atEnd = true;
      if (!barriers.why.src) {
        barriers.why = event.reason;
        barriers.why.reuse = true;
      }
    }
  for (auto &body : item.bodies)
    for (const ItemEffect &effect : of(*body).effects())
      barriers.atEnd |= !effect.pending.empty();
  return barriers;
}

// ---- ids ----------------------------------------------------------------------------------------

void FunctionOrder::forEvents(const Item &item,
                              llvm::function_ref<void(Event &, const Body &)> visit) {
  for (auto &body : item.bodies) {
    for (Event &event : of(*body).events())
      visit(event, *body);
    for (const Item &inner : body->items)
      forEvents(inner, visit);
  }
}

/// The first of `count` neighbours in `free`; -1 if there are none.
static int firstRun(uint32_t free, int64_t count) {
  uint32_t run = (1u << count) - 1;
  // Events have at most 16 ids, one bit each.
  for (int first = 0; first + count <= 16; ++first)
    if ((free >> first & run) == run)
      return first;
  return -1;
}

void FunctionOrder::escalate(Pipe from, Pipe to) {
  Effort &effort = policy_.effort[pairIndex(from, to)];
  if (effort != Effort::Barriers)
    effort = static_cast<Effort>(static_cast<int>(effort) + 1);
  // Events of slots rely on events of slots in the other direction.
  if (effort == Effort::Unrotated)
    policy_.effort[pairIndex(to, from)] = std::max(policy_.effort[pairIndex(to, from)], effort);
}

/// With fewer ids for a pair: first events become one where that is possible, then buffers take
/// turns together, then events within an iteration share ids, and then buffers go without turns.
void FunctionOrder::makeDo(Pipe from, Pipe to) {
  Effort effort = policy_.of(from, to);
  if ((effort == Effort::Merged && plan_.merge(from, to)) ||
      (effort >= Effort::Shared && plan_.drop(from, to)))
    return;
  escalate(from, to);
}

using IdsOfTurns = std::tuple<size_t, int, bool, int>;
/// Equal for events that have the same ids.
static IdsOfTurns idsOfTurns(const Event &event) {
  return {pairIndex(event.src, event.dst), event.resource, event.carried, event.number};
}

// In a loop each event has its own ids, but for those that a body shares; those of slots first:
// they need neighbours.
FunctionOrder::Outcome FunctionOrder::allocateLoop(Item &item, const Masks &free, Masks &used) {
  struct Wanted {
    Event *event;
    const Body *body;
  };
  std::vector<Wanted> events;
  forEvents(item, [&](Event &event, const Body &body) { events.push_back({&event, &body}); });
  // Runs of several ids are taken first, while there are long gaps between used ones.
  llvm::stable_sort(
      events, [](const Wanted &a, const Wanted &b) { return a.event->slots > b.event->slots; });
  std::map<std::tuple<const Body *, size_t, int>, int> shared;
  std::map<IdsOfTurns, int> ofTurns;
  for (auto [event, body] : events) {
    size_t pair = pairIndex(event->src, event->dst);
    // Events of the same turns share their ids, and so do events that the body shares; all others
    // have their own.
    int none = -1, &id = event->resource >= 0
                             ? ofTurns.try_emplace(idsOfTurns(*event), -1).first->second
                         : event->shared < 0
                             ? none
                             : shared.try_emplace({body, pair, event->shared}, -1).first->second;
    if (id < 0)
      id = firstRun(free[pair] & ~used[pair], event->slots);
    event->id = id;
    // There are not enough ids, so the pair has to do with less, and all is derived again.
    if (id < 0) {
      makeDo(event->src, event->dst);
      return Outcome::MoreEffort;
    }
    used[pair] |= ((1u << event->slots) - 1) << id;
  }
  return Outcome::Done;
}

/// Linear scan register allocation over the steps of a body that is run through once, with ids in the place of registers: an id is free
/// when its setter knows that the last wait is over.
class StraightAllocator {
public:
  using Outcome = FunctionOrder::Outcome;
  using Masks = FunctionOrder::Masks;

  StraightAllocator(FunctionOrder &function, Body &body, const Masks &allowed)
      : function_(function), order_(function.of(body)), body_(body), allowed_(allowed) {
    for (auto &waits : lastWait_)
      waits.fill(kNever);
    assumed_.fill(kNever);
  }
  Outcome run(Masks &used);

private:
  uint32_t freeAt(size_t pair, Step step) const;
  bool makeRoom(size_t pair, Step step, const Event *event);
  Outcome giveId(Event &event);
  Outcome giveIds(Item &item, int index);
  static Pipe fromOf(size_t pair) { return static_cast<Pipe>(pair / kNumPipes); }
  static Pipe toOf(size_t pair) { return static_cast<Pipe>(pair % kNumPipes); }

  FunctionOrder &function_;
  BodyOrder &order_;
  Body &body_;
  Masks allowed_;
  Masks used_{};
  std::array<std::array<Step, 16>, kNumPairs> lastWait_;
  std::array<Step, kNumPairs> assumed_; ///< what new needs will let the setter know
  std::array<std::array<const Event *, 16>, kNumPairs> holder_{};
  bool changed_ = false;
};

uint32_t StraightAllocator::freeAt(size_t pair, Step step) const {
  // Needs that were added in this run are not in the clocks yet, so `assumed_` stands for them.
  Step known = std::max(order_.knownOver(fromOf(pair), step, toOf(pair)), assumed_[pair]);
  uint32_t free = 0;
  for (unsigned id = 0; id < 16; ++id)
    if ((allowed_[pair] >> id & 1) &&
        // An id that was never awaited, or whose last wait is known to be over, is free.
        (lastWait_[pair][id] == kNever || lastWait_[pair][id] < known))
      free |= 1u << id;
  return free;
}

// Asks for an order that frees ids at `step`: half of those waited for before, or, for an event, to
// be one with the last.
bool StraightAllocator::makeRoom(size_t pair, Step step, const Event *event) {
  Step known = std::max(order_.knownOver(fromOf(pair), step, toOf(pair)), assumed_[pair]);
  llvm::SmallVector<Step> over;
  int latest = -1;
  for (unsigned id = 0; id < 16; ++id) {
    Step waited = lastWait_[pair][id];
    if (waited == kNever || waited < known)
      continue;
    // Only a wait in an earlier gap can be waited for here; later ones cannot be over. What is waited for inside an item is over behind it,
    // hence in the next gap.
    if (gapOf(waited + (waited % 8 == Execute ? 2 : 0)) < gapOf(step))
      over.push_back(waited);
    else if (latest < 0 || waited > lastWait_[pair][static_cast<unsigned>(latest)])
      latest = static_cast<int>(id);
  }
  if (!over.empty()) {
    llvm::sort(over);
    // For an event, waiting for the middle one frees half of the ids; an item needs all that it can
    // get.
    Step waited = event ? over[(over.size() - 1) / 2] : over.back();
    order_.addReuse(toOf(pair), fromOf(pair), waited, step, false,
                    event ? event->reason : Reason{});
    assumed_[pair] = waited + 1;
    return changed_ = true;
  }
  const Event *other = latest < 0 ? nullptr : holder_[pair][static_cast<unsigned>(latest)];
  // The two events overlap in time, so they become one with the later set and the earlier wait.
  if (!event || !other || event->setStep >= other->waitStep)
    return false;
  Event both = *other;
  both.setStep = std::max(both.setStep, event->setStep);
  both.waitStep = std::min(both.waitStep, event->waitStep);
  order_.addSeed(both);
  // The next round has one event for both. Until then the id counts as free, so that this run goes on and finds what else is short.
  lastWait_[pair][static_cast<unsigned>(latest)] = kNever;
  return changed_ = true;
}

StraightAllocator::Outcome StraightAllocator::giveId(Event &event) {
  size_t pair = pairIndex(event.src, event.dst);
  uint32_t free = freeAt(pair, event.setStep);
  if (!free && makeRoom(pair, event.setStep, &event))
    free = freeAt(pair, event.setStep);
  event.id = firstRun(free, 1);
  if (event.id < 0) {
    function_.escalate(event.src, event.dst);
    return Outcome::MoreEffort;
  }
  auto id = static_cast<unsigned>(event.id);
  used_[pair] |= 1u << id;
  lastWait_[pair][id] = event.waitStep;
  holder_[pair][id] = &event;
  return Outcome::Done;
}

StraightAllocator::Outcome StraightAllocator::giveIds(Item &item, int index) {
  Step start = stepOf(index, FirstSet);
  Masks free, used{};
  llvm::SmallVector<size_t> pairs;
  for (size_t pair = 0; pair < kNumPairs; ++pair)
    free[pair] = freeAt(pair, start);
  Outcome outcome = Outcome::Done;
  if (isLoop(item)) {
    std::array<int64_t, kNumPairs> wanted{};
    std::set<IdsOfTurns> ofTurns;
    // The ids that the loop takes in all are needed at once, since its events live as long as the
    // loop.
    function_.forEvents(item, [&](Event &e, const Body &) {
      if (e.resource < 0 || ofTurns.insert(idsOfTurns(e)).second)
        wanted[pairIndex(e.src, e.dst)] += e.shared < 0 ? e.slots : 0;
    });
    for (size_t pair = 0; pair < kNumPairs; ++pair)
      if (wanted[pair] > __builtin_popcount(free[pair]) && makeRoom(pair, start, nullptr))
        free[pair] = freeAt(pair, start);
    outcome = function_.allocateLoop(item, free, used);
  } else {
    for (auto &body : item.bodies) {
      Masks inBody{};
      // The arms of a branch may use the same ids, since only one of them runs.
      Outcome inner = function_.allocate(*body, free, inBody);
      if (inner != Outcome::Done)
        outcome = outcome == Outcome::MoreEffort ? outcome : inner;
      for (size_t pair = 0; pair < kNumPairs; ++pair)
        used[pair] |= inBody[pair];
    }
  }
  for (size_t pair = 0; pair < kNumPairs; ++pair)
    for (unsigned id = 0; id < 16; ++id)
      if (used[pair] >> id & 1) {
        used_[pair] |= 1u << id;
        // The item's ids are in use until its end.
        lastWait_[pair][id] = stepOf(index + 1, PreWait);
        holder_[pair][id] = nullptr;
      }
  return outcome;
}

StraightAllocator::Outcome StraightAllocator::run(Masks &used) {
  std::vector<Event *> events;
  for (Event &event : order_.events())
    events.push_back(&event);
  llvm::stable_sort(events, [](const Event *a, const Event *b) { return a->setStep < b->setStep; });
  size_t next = 0;
  // `MoreEffort` ends the run at once; `Again` is told at the end.
  Outcome outcome = Outcome::Done;
  auto note = [&](Outcome result) {
    outcome = std::max(outcome, result, [](Outcome a, Outcome b) {
      return static_cast<int>(a) < static_cast<int>(b);
    });
    return outcome != Outcome::MoreEffort;
  };
  for (int index = 0; index <= order_.numItems(); ++index) {
    // Events and items are visited by their steps.
    for (; next < events.size() && events[next]->setStep < stepOf(index, FirstSet); ++next)
      if (!note(giveId(*events[next])))
        return outcome;
    if (index < order_.numItems() && !body_.items[static_cast<size_t>(index)].pipe)
      if (!note(giveIds(body_.items[static_cast<size_t>(index)], index)))
        return outcome;
  }
  used = used_;
  if (changed_) {
    order_.solve();
    // New needs change the events, so ids are given again from the start.
    note(Outcome::Again);
  }
  return outcome;
}

FunctionOrder::Outcome FunctionOrder::allocate(Body &body, const Masks &allowed, Masks &used) {
  return StraightAllocator(*this, body, allowed).run(used);
}

void FunctionOrder::build() {
  // Each round that fails takes events away from a pair, or from all.
  // Effort only grows and ends at barriers, so this comes to an end.
  for (bool solved = false; !solved;) {
    orders_.clear();
    hopeless_.clear();
    numDependences_ = 0;
    solved = build(program_.root());
    for (size_t pair : hopeless_)
      policy_.effort[pair] = Effort::Barriers;
    if (!solved && hopeless_.empty())
      policy_.effort.fill(Effort::Barriers);
  }
}

void FunctionOrder::solve() {
  Masks all;
  all.fill((1u << std::min<int64_t>(machine_.eventIds, 16)) - 1);
  auto number = [](std::string_view pipe) {
    return static_cast<size_t>(llvm::find(pipeNames, pipe) - std::begin(pipeNames));
  };
  for (const InsideInstruction *inside : program_.inside())
    for (const InsideEvent &event : inside->events)
      // The library uses these ids inside its instructions, so they are not free.
      if (!event.from.empty())
        all[number(event.from) * kNumPipes + number(event.to)] &= ~(1u << inside->id);
  constexpr int mostRounds = 40;
  for (int round = 0;; ++round) {
    if (round == mostRounds) // the last resort, which uses no events
      policy_.effort.fill(Effort::Barriers);
    build();
    Outcome outcome = Outcome::Again;
    for (int attempt = 0; attempt < mostRounds && outcome == Outcome::Again; ++attempt) {
      Masks used{};
      outcome = allocate(program_.root(), all, used);
    }
    if (outcome == Outcome::Done)
      return;
    if (outcome == Outcome::Again)
      // The next round is the last, which does with barriers alone.
      round = mostRounds - 1;
  }
}

} // namespace ptl::pto
