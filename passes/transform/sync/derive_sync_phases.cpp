#include "passes/transform/sync/derive_sync_phases.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::pto {

// ---- what is touched ----------------------------------------------------------------------------

PhasePlan::PhasePlan(BlockProgram &program) : program_(program) {
  // A turn may go from one inner loop to another, so turns are searched in whole outermost loops.
  findOuter(program.root());
  for (const Item *outer : outers_) {
    for (auto &body : outer->bodies)
      noteBodies(*body, *outer);
    collect(*outer);
  }
  // Joining comes before numbering, since it makes resources fewer.
  join();
  number();
}

void PhasePlan::findOuter(Body &body) {
  // Branches outside of loops are entered; a loop is an outermost one wherever it is found first.
  for (Item &item : body.items) {
    if (isa<scf::ForOp>(item.op))
      outers_.push_back(&item);
    else if (isa<scf::IfOp>(item.op))
      for (auto &inner : item.bodies)
        findOuter(*inner);
  }
}

void PhasePlan::noteBodies(const Body &body, const Item &outer) {
  outerOf_[&body] = &outer;
  for (const Item &item : body.items)
    for (auto &inner : item.bodies)
      noteBodies(*inner, outer);
}

/// Parts are the bytes of touches that overlap; a resource of each that is used in turns.
void PhasePlan::collect(const Item &outer) {
  std::vector<const Touch *> touches;
  for (const Touch &touch : outer.touches)
    if (!touch.isGlobal())
      touches.push_back(&touch);
  // A slot of a ring counts as the whole ring, since the slot may be any of them.
  auto beginOf = [](const Touch &touch) {
    return touch.ring.count > 1 ? touch.ring.begin : touch.begin;
  };
  auto endOf = [](const Touch &touch) { return touch.ring.count > 1 ? touch.ring.end : touch.end; };
  // Touches that overlap are neighbours in this order, so one pass merges them into parts.
  llvm::stable_sort(touches, [&](const Touch *a, const Touch *b) {
    return std::pair(a->space, beginOf(*a)) < std::pair(b->space, beginOf(*b));
  });
  size_t before = parts_.size();
  for (const Touch *touch : touches) {
    Ring ring = touch->ring.count > 1 ? touch->ring : Ring();
    bool plain = !touch->receives && !touch->releases && !touch->aside;
    // A touch that begins behind the end of the last part begins a new one.
    if (parts_.size() == before || parts_.back().space != touch->space ||
        parts_.back().end <= beginOf(*touch)) {
      parts_.push_back({&outer, touch->space, beginOf(*touch), endOf(*touch), ring, true, plain});
      continue;
    }
    Part &part = parts_.back();
    part.end = std::max(part.end, endOf(*touch));
    part.alike &= part.ring == ring;
    part.plain &= plain;
  }
  partsOf_[&outer] = {before, parts_.size()};
  for (size_t part = before; part < parts_.size(); ++part)
    // Only rings, or buffers that no other core fills or frees, take turns in a way that is known
    // here.
    if (parts_[part].alike && parts_[part].plain)
      if (auto resource = scan(outer, static_cast<int>(part)))
        resources_.push_back(std::move(*resource));
}

int PhasePlan::partOf(const Item &outer, const Touch &touch) const {
  auto [first, last] = partsOf_.at(&outer);
  auto begin = parts_.begin() + static_cast<long>(first),
       end = parts_.begin() + static_cast<long>(last);
  // Parts of one outermost loop are sorted and do not overlap, so a binary search finds the one.
  auto at = std::partition_point(begin, end, [&](const Part &part) {
    return std::pair(part.space, part.end) <= std::pair(touch.space, touch.begin);
  });
  return at != end && at->space == touch.space && at->begin <= touch.begin
             ? static_cast<int>(at - parts_.begin())
             : -1;
}

int PhasePlan::resourceOf(const Body &body, const Touch &touch) const {
  auto outer = outerOf_.find(&body);
  int part = outer == outerOf_.end() || touch.isGlobal() ? -1 : partOf(*outer->second, touch);
  return part < 0 ? -1 : resourceOfPart_[static_cast<size_t>(part)];
}

// ---- turns --------------------------------------------------------------------------------------

// Whether a value can be had at the start of a body: it dominates the body, or can be computed again there without effects.
static bool isAvailable(Value value, const Body &body) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == body.block ||
           argument.getOwner()->getParentOp()->isProperAncestor(body.owner);
  Operation *op = value.getDefiningOp();
  if (Operation *around = op->getBlock()->findAncestorOpInBlock(*body.owner);
      around && op->isBeforeInBlock(around))
    return true;
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value v) { return isAvailable(v, body); });
}

/// Finds the turns of some parts together.
class PhaseScan {
public:
  PhaseScan(PhasePlan &plan, const Item &outer, llvm::ArrayRef<int> parts) : plan_(plan) {
    found_.outer = &outer;
    found_.parts.assign(parts.begin(), parts.end());
  }
  std::optional<Resource> run();

private:
  /// What an item does to the parts.
  struct Summary {
    std::array<const Touch *, kNumPipes> touches{}, writes{};
    unsigned pipes = 0;
  };
  /// The slot that the current turn uses.
  struct Slot {
    bool known = false, queue = false;
    int64_t constant = -1;
    std::optional<unsigned> key;
    int rotation = -1;
    Operation *popped = nullptr;
    int fills = 0;
  };

  bool isOurs(const Touch &touch) const {
    int part = plan_.partOf(*found_.outer, touch);
    return llvm::is_contained(found_.parts, part);
  }
  Summary summarise(const Item &item) const;
  bool scan(const Body &body);
  bool scanInside(const Item &item);
  bool note(Phase &phase, const Body &body, int index, const Summary &summary);
  bool seeSlot(const Item &item);
  bool close(const Body &body, Phase &phase, int turn, int turns);
  bool agree();
  bool knows(const Phase &phase, const Body &body, size_t user, size_t other) const;

  PhasePlan &plan_;
  Resource found_;
  bool started_ = false;
  Slot slot_;
};

PhaseScan::Summary PhaseScan::summarise(const Item &item) const {
  Summary summary;
  for (const Touch &touch : item.touches) {
    if (touch.isGlobal() || !isOurs(touch))
      continue;
    size_t pipe = pipeIndex(touch.pipe);
    if (!summary.touches[pipe])
      ++summary.pipes;
    summary.touches[pipe] = &touch;
    if (touch.writes)
      summary.writes[pipe] = &touch;
  }
  return summary;
}

// All touches of a turn are of one slot.
bool PhaseScan::seeSlot(const Item &item) {
  // Without a ring each turn uses the same bytes.
  if (found_.slots == 1)
    return true;
  for (const Touch &touch : item.touches) {
    int part = touch.isGlobal() ? -1 : plan_.partOf(*found_.outer, touch);
    if (!llvm::is_contained(found_.parts, part))
      continue;
    if (!(touch.ring == plan_.parts_[static_cast<size_t>(part)].ring))
      return false; // the same bytes under another name
    const Rotation *rotation =
        touch.rotation < 0 ? nullptr
                           : &plan_.program_.rotations()[static_cast<size_t>(touch.rotation)];
    // Slots of a queue are told apart by the popped tile, since pops have no slot number.
    if (rotation && rotation->queue) {
      if (slot_.popped && slot_.popped != touch.popped)
        return false;
      slot_.popped = touch.popped;
      slot_.queue = true;
      // A slot that is named by number or constant elsewhere in the turn keeps that name.
      if (!slot_.key && slot_.constant < 0)
        slot_.rotation = touch.rotation;
      continue;
    }
    // A slot with a number and one with a constant cannot be known to be the same.
    if (rotation) {
      if (slot_.constant >= 0 || (slot_.key && *slot_.key != rotation->slotKey))
        return false;
      slot_.key = rotation->slotKey;
      slot_.rotation = touch.rotation;
    } else if (touch.slot >= 0) {
      if (slot_.key || (slot_.constant >= 0 && slot_.constant != touch.slot))
        return false;
      slot_.constant = touch.slot;
    } else {
      return false;
    }
  }
  return true;
}

// What turns of one queue are called does not matter: of as many as there are slots, and one more,
// two have the same name, so whoever fills the next one has waited for the first.
bool PhaseScan::close(const Body &body, Phase &phase, int turn, int turns) {
  // Several fills in one turn would take several slots of the queue.
  if (slot_.queue && slot_.fills != 1)
    return false;
  bool rotates = slot_.rotation >= 0;
  int frame = rotates && static_cast<size_t>(slot_.rotation) < body.frameOf.size()
                  ? body.frameOf[static_cast<size_t>(slot_.rotation)]
                  : -1;
  // A constant slot needs no number at run time.
  if (found_.slots == 1 || slot_.constant >= 0) {
    phase.slot = {SlotNumber::Constant, std::max<int64_t>(0, slot_.constant), Value()};
    phase.steady = true;
    return true;
  }
  const Rotation &rotation = plan_.program_.rotations()[static_cast<size_t>(slot_.rotation)];
  if (!slot_.key) { // of a queue alone
    // With one turn in each iteration the number of the iteration tells the slot. With several, each turn of the body has a slot of its own
    // name.
    if (frame >= 0 && turns == 1) {
      phase.slot.kind = SlotNumber::Iteration;
      phase.frame = frame;
    } else {
      phase.slot = {SlotNumber::Constant, turn % found_.slots, Value()};
      phase.steady = true;
    }
    return true;
  }
  // The events of the turn need the number where the turn begins.
  if (!isAvailable(rotation.slot, body))
    return false;
  phase.slot = {SlotNumber::Number, 0, rotation.slot};
  phase.frame = frame;
  return true;
}

bool PhaseScan::note(Phase &phase, const Body &body, int index, const Summary &summary) {
  const Item &item = body.items[static_cast<size_t>(index)];
  size_t filler = pipeIndex(found_.filler);
  phase.last = index;
  for (size_t pipe = 0; pipe < kNumPipes; ++pipe) {
    // The filler's own accesses are in order by themselves.
    if (pipe == filler || !summary.touches[pipe])
      continue;
    Phase::Use &use = phase.uses[pipe];
    if (use.first < 0) {
      use.first = index;
      use.firstTouch = summary.touches[pipe];
    }
    use.last = index;
    use.lastTouch = summary.touches[pipe];
    found_.users[pipe] = true;
  }
  return seeSlot(item);
}

bool PhaseScan::scanInside(const Item &item) {
  return isa<scf::ForOp, scf::IfOp>(item.op) &&
         llvm::all_of(item.bodies, [&](auto &body) { return scan(*body); });
}

bool PhaseScan::scan(const Body &body) {
  std::vector<std::pair<Phase, Slot>> phases;
  found_.bodies.insert(&body);
  bool open = false;
  auto isUsed = [](const Phase &phase) {
    return llvm::any_of(phase.uses, [](const Phase::Use &use) { return use.first >= 0; });
  };
  for (int index = 0; index < static_cast<int>(body.items.size()); ++index) {
    const Item &item = body.items[static_cast<size_t>(index)];
    Summary summary = summarise(item);
    if (!summary.pipes)
      continue;
    // The first pipe that touches the parts alone is taken as their filler.
    if (!started_ && summary.pipes == 1) {
      started_ = true;
      found_.filler = pipeAt(
          static_cast<size_t>(llvm::find_if(summary.touches, [](auto *t) { return t != nullptr; }) -
                              summary.touches.begin()));
    }
    size_t filler = started_ ? pipeIndex(found_.filler) : 0;
    bool fills = started_ && summary.writes[filler];
    // An item that fills and uses has whole turns inside, so the search goes on there.
    if (!started_ || (fills && summary.pipes > 1)) { // turns inside
      if (item.pipe || !scanInside(item))
        return false;
      open = false;
      continue;
    }
    // A fill after a use begins the next turn; several fills before any use belong to one.
    if (fills && (!open || isUsed(phases.back().first))) {
      Phase phase;
      phase.first = index;
      phase.firstTouch = summary.writes[filler];
      phases.push_back({phase, {}});
      open = true;
    }
    // A use without a fill before it takes what an earlier round left, which is no turn.
    if (!open)
      return false;
    slot_ = phases.back().second;
    if (fills) {
      // An item with bodies may fill more than once.
      slot_.fills += item.pipe ? 1 : 2;
    }
    if (!note(phases.back().first, body, index, summary))
      return false;
    phases.back().second = slot_;
  }
  int turn = 0;
  for (auto &[phase, slot] : phases) {
    slot_ = slot;
    if (!close(body, phase, turn++, static_cast<int>(phases.size())))
      return false;
    found_.phases.push_back({&body, phase});
  }
  return true;
}

// Whether `other` cannot be done in a turn before `user` is: it takes what that makes, or makes
// what that takes.
bool PhaseScan::knows(const Phase &phase, const Body &body, size_t user, size_t other) const {
  int last = phase.uses[user].last;
  // A later item of `other` that depends on the last of `user` shows that it has waited for it.
  for (int index = last + 1; index <= phase.uses[other].last; ++index)
    for (const Touch &late : body.items[static_cast<size_t>(index)].touches) {
      if (pipeIndex(late.pipe) != other || late.isGlobal() || !isOurs(late))
        continue;
      for (const Touch &early : body.items[static_cast<size_t>(last)].touches)
        if (pipeIndex(early.pipe) == user && early.space == late.space && early.begin < late.end &&
            late.begin < early.end && (early.writes || late.writes))
          return true;
    }
  return false;
}

// Each turn has all users; those that others know of need not tell.
bool PhaseScan::agree() {
  if (found_.phases.empty() || llvm::none_of(found_.users, [](bool uses) { return uses; }))
    return false;
  for (auto &[body, phase] : found_.phases)
    for (size_t pipe = 0; pipe < kNumPipes; ++pipe)
      // A turn without one of the users would leave that user's event without its partner.
      if (found_.users[pipe] != (phase.uses[pipe].first >= 0))
        return false;
  // A user that another one has waited for does not have to tell the filler itself.
  found_.ends = found_.users;
  for (size_t user = 0; user < kNumPipes; ++user)
    for (size_t other = 0; other < kNumPipes && found_.ends[user]; ++other)
      // Only a user that tells can speak for another one, so no two rely on each other.
      if (other != user && found_.ends[other] && llvm::all_of(found_.phases, [&](auto &entry) {
            return knows(entry.second, *entry.first, user, other);
          }))
        found_.ends[user] = false;
  return true;
}

std::optional<Resource> PhaseScan::run() {
  int64_t slots = -1;
  for (int part : found_.parts) {
    int64_t own = std::max<int64_t>(1, plan_.parts_[static_cast<size_t>(part)].ring.count);
    // Parts with different numbers of slots do not turn together.
    if (slots >= 0 && own != slots)
      return std::nullopt;
    slots = own;
  }
  found_.slots = slots;
  for (auto &body : found_.outer->bodies)
    if (!scan(*body))
      return std::nullopt;
  if (!agree())
    return std::nullopt;
  return std::move(found_);
}

std::optional<Resource> PhasePlan::scan(const Item &outer, llvm::ArrayRef<int> parts) {
  return PhaseScan(*this, outer, parts).run();
}

// ---- resources that are one ---------------------------------------------------------------------

/// Whether nothing else of a pipe lies between two items, these included.
static bool isAdjacent(const Body &body, int a, int b, Pipe pipe, llvm::ArrayRef<int> items) {
  for (int index = std::min(a, b); index <= std::max(a, b); ++index)
    if (body.items[static_cast<size_t>(index)].has(pipe) && !llvm::is_contained(items, index))
      return false;
  return true;
}

/// Turns that begin and end together, so that one event does the work of two and nobody waits
/// longer.
static bool goTogether(const Resource &a, const Resource &b) {
  if (a.phases.size() != b.phases.size())
    return false;
  // The turns have to begin and end in the same places, with nothing of the pipe between.
  for (auto [one, other] : llvm::zip_equal(a.phases, b.phases)) {
    auto &[body, first] = one;
    const Phase &second = other.second;
    if (body != other.first ||
        !isAdjacent(*body, first.first, second.first, a.filler, {first.first, second.first}))
      return false;
    for (size_t pipe = 0; pipe < kNumPipes; ++pipe) {
      int last = first.uses[pipe].last, end = second.uses[pipe].last;
      if (a.ends[pipe] && !isAdjacent(*body, last, end, pipeAt(pipe), {last, end}))
        return false;
    }
  }
  return true;
}

static bool areAlike(const Resource &a, const Resource &b) {
  return a.outer == b.outer && a.filler == b.filler && a.slots == b.slots && a.users == b.users &&
         a.ends == b.ends;
}

void PhasePlan::join() {
  for (size_t i = 0; i < resources_.size(); ++i)
    for (size_t j = i + 1; j < resources_.size();) {
      Resource &a = resources_[i], &b = resources_[j];
      std::optional<Resource> both;
      if (areAlike(a, b) && goTogether(a, b)) {
        llvm::SmallVector<int> parts(a.parts);
        llvm::append_range(parts, b.parts);
        both = scan(*a.outer, parts);
      }
      if (!both || both->phases.size() != a.phases.size()) {
        // The joined scan may find other turns, in which case the two stay apart.
        ++j;
        continue;
      }
      a = std::move(*both);
      resources_.erase(resources_.begin() + static_cast<long>(j));
    }
}

bool PhasePlan::counts(const Resource &resource, Pipe from, Pipe to) {
  return (resource.filler == to && resource.ends[pipeIndex(from)]) ||
         (resource.filler == from && resource.users[pipeIndex(to)]);
}

bool PhasePlan::drop(Pipe from, Pipe to) {
  // The resource with most slots takes most ids.
  auto most = resources_.end();
  for (auto at = resources_.begin(); at != resources_.end(); ++at)
    if (counts(*at, from, to) && (most == resources_.end() || at->slots > most->slots))
      most = at;
  if (most == resources_.end())
    return false;
  resources_.erase(most);
  // The indices of the others have moved.
  number();
  return true;
}

bool PhasePlan::merge(Pipe from, Pipe to) {
  // The fewer turns, the less is lost.
  std::optional<Resource> best;
  size_t first = 0, second = 0;
  for (size_t i = 0; i < resources_.size(); ++i)
    for (size_t j = i + 1; j < resources_.size(); ++j) {
      const Resource &a = resources_[i], &b = resources_[j];
      // Joined turns must have the same filler and as many slots, or `scan` finds other turns.
      if (!counts(a, from, to) || !counts(b, from, to) || a.outer != b.outer ||
          a.filler != b.filler || a.slots != b.slots ||
          (best && best->phases.size() <= a.phases.size() + b.phases.size()))
        continue;
      llvm::SmallVector<int> parts(a.parts);
      llvm::append_range(parts, b.parts);
      if (auto both = scan(*a.outer, parts); both && both->slots == a.slots) {
        best = std::move(both);
        first = i;
        second = j;
      }
    }
  if (!best)
    return false;
  resources_[first] = std::move(*best);
  resources_.erase(resources_.begin() + static_cast<long>(second));
  number();
  return true;
}

/// Whether each turn of `inner` lies within one of `outer`, alone: who fills has waited for the end
/// of that of before. Of two in one turn nothing would say that the first is over.
bool PhasePlan::isCovered(const Resource &inner, const Resource &outer) const {
  if (inner.outer != outer.outer || inner.filler != outer.filler || inner.slots != outer.slots)
    return false;
  auto isSameSlot = [&](const SlotNumber &a, const SlotNumber &b) {
    return a.kind == b.kind && a.constant == b.constant &&
           (a.kind != SlotNumber::Number ||
            program_.numberOf(a.number) == program_.numberOf(b.number));
  };
  llvm::DenseSet<const Phase *> taken;
  return llvm::all_of(inner.phases, [&](auto &entry) {
    // Each turn of the outer resource can cover only one of the inner one.
    auto &[body, own] = entry;
    return llvm::any_of(outer.phases, [&, body = body, &own = own](auto &other) {
      const Phase &around = other.second;
      if (other.first != body || around.first > own.first || !isSameSlot(own.slot, around.slot))
        return false;
      for (size_t pipe = 0; pipe < kNumPipes; ++pipe)
        if (inner.ends[pipe] && (!outer.ends[pipe] || around.uses[pipe].last < own.uses[pipe].last))
          return false;
      return taken.insert(&around).second;
    });
  });
}

/// Turns within other turns need not say when they are over.
void PhasePlan::cover() {
  for (Resource &resource : resources_)
    resource.tells = resource.ends;
  for (Resource &inner : resources_)
    for (const Resource &outer : resources_)
      // A resource that is covered itself does not tell, so it cannot cover another one.
      if (&inner != &outer && outer.tells == outer.ends && isCovered(inner, outer)) {
        inner.tells.fill(false);
        break;
      }
}

void PhasePlan::number() {
  phases_.clear();
  resourceOfPart_.assign(parts_.size(), -1);
  for (auto [index, resource] : llvm::enumerate(resources_))
    for (auto &[body, phase] : resource.phases) {
      phase.resource = static_cast<int>(index);
      phases_[body].push_back(phase);
    }
  cover();
  for (auto [index, resource] : llvm::enumerate(resources_))
    for (int part : resource.parts)
      resourceOfPart_[static_cast<size_t>(part)] = static_cast<int>(index);
}

llvm::ArrayRef<Phase> PhasePlan::phasesOf(const Body &body) const {
  auto found = phases_.find(&body);
  if (found == phases_.end())
    return {};
  return found->second;
}

bool PhasePlan::orders(const Body &body, const Dependence &dependence) const {
  if (dependence.src->pipe == dependence.dst->pipe)
    return false; // events order different pipes
  int resource = resourceOf(body, *dependence.src);
  if (resource < 0 || resource != resourceOf(body, *dependence.dst))
    return false;
  // Such a dependence lies inside one turn and needs its own event.
  if (!resources_[static_cast<size_t>(resource)].bodies.contains(&body))
    return false; // within a turn
  if (dependence.carried)
    return true;
  // Two items of different turns are ordered by the events between the turns.
  return llvm::none_of(phasesOf(body), [&](const Phase &phase) {
    auto isIn = [&](int item) { return phase.first <= item && item <= phase.last; };
    return phase.resource == resource && isIn(dependence.srcItem) && isIn(dependence.dstItem);
  });
}

} // namespace ptl::pto
