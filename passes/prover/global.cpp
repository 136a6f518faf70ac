// Global memory: the order of accesses between all pipes of a cube core and its vector cores, and
// what both vector cores do to it.
#include "passes/prover/global.h"

#include "passes/prover/contents.h"
#include "passes/prover/mix.h"
#include "passes/prover/report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace ptl::prove {

namespace {

struct Touch {
  EventRef ref;
  uint8_t pipe;
  uint32_t place; ///< index of `PointerJudge::places_`
  bool reads, writes, atomic;
  unsigned lane() const { return ref.core * 8 + pipe; }
};

/// The last touches of a box by each pipe: numbers, and a bit for those that are there.
struct Last {
  uint32_t mask = 0;
  uint32_t touch[kLanes];
  void set(unsigned lane, uint32_t number) {
    mask |= 1u << lane;
    touch[lane] = number;
  }
};

/// One box that is touched.
struct Place {
  const GlobalBox *box;
  std::vector<uint32_t> near; ///< places that may share elements with it, itself too
  Last readers, writers;
};

/// Compares what both vector cores do. The contents of a core's memories are computed when they are
/// needed.
class VectorCores {
public:
  explicit VectorCores(const Case &judged) : judged_(judged) {
    const std::vector<Core> &cores = judged.execution.cores;
    for (uint32_t core = 0; core < cores.size(); ++core)
      // There are at most two vector cores in a core group.
      if (!cores[core].function->cube)
        (cores_[0] == kNone ? cores_[0] : cores_[1]) = core;
  }
  bool areTwo() const { return cores_[1] != kNone; }
  bool areBoth(uint32_t a, uint32_t b) const {
    return areTwo() && a != b && (a == cores_[0] || a == cores_[1]) &&
           (b == cores_[0] || b == cores_[1]);
  }
  uint32_t operator[](unsigned index) const { return cores_[index]; }
  uint64_t contentOf(EventRef ref) {
    // What a core computed is derived once, when the first comparison needs it.
    std::optional<Contents> &contents = contents_[ref.core == cores_[1]];
    if (!contents)
      contents.emplace(judged_.kernel, judged_.execution, judged_.ranges, ref.core);
    return contents->of(ref.event);
  }
  /// Reports those of `first`, on one core, that are the same as one of `second`, on the other.
  /// `what`: becomes of the data.
  void judgeTwice(const std::vector<EventRef> &first, const std::vector<EventRef> &second,
                  const std::string &what);

private:
  const Case &judged_;
  uint32_t cores_[2] = {kNone, kNone};
  std::optional<Contents> contents_[2];
};

class PointerJudge {
public:
  PointerJudge(const Case &judged, VectorCores &vectors) : judged_(judged), vectors_(vectors) {}
  void add(EventRef ref, const Event &event, const Access &access);
  void judge();

private:
  void findNear();
  void judgePair(const Touch &first, const Touch &second, HazardKind kind);
  void judgeAtomics();
  bool agree(const Touch &first, const Touch &second);
  const std::vector<uint64_t> &writesOf(uint32_t place, unsigned core);

  const Case &judged_;
  VectorCores &vectors_;
  std::vector<Touch> touches_;
  std::vector<Place> places_;
  std::map<uint64_t, uint32_t> known_; ///< hash of a box → its place
  uint32_t lanes_ = 0;
  bool written_ = false, atomics_ = false;
  /// The values that a core writes at a place, one after the other.
  std::map<std::pair<uint32_t, unsigned>, std::vector<uint64_t>> writes_;
};

} // namespace

void VectorCores::judgeTwice(const std::vector<EventRef> &first,
                             const std::vector<EventRef> &second, const std::string &what) {
  if (first.empty() || second.empty())
    return;
  std::set<uint64_t> contents;
  for (EventRef ref : second)
    contents.insert(contentOf(ref));
  for (EventRef ref : first) {
    mlir::Operation *op = judged_.operation(ref);
    // Different data may be added by both cores: each of them its own part.
    if (!contents.count(contentOf(ref)) || judged_.findings.has(DiagId::EffectTwice, op, nullptr))
      continue;
    Finding *finding = judged_.findings.add(DiagId::EffectTwice, op, {mnemonic(op), what});
    if (!finding)
      continue;
    finding->fix = "let only one of the two perform it, where `get_subblock_idx` is 0";
    if (!judged_.with.empty())
      finding->notes.push_back("it happens with " + judged_.with);
  }
}

// ---- one pointer --------------------------------------------------------------------------------

void PointerJudge::add(EventRef ref, const Event &event, const Access &access) {
  const GlobalBox &box = judged_.execution.boxes[access.bytes];
  auto [entry, isNew] = known_.try_emplace(hashOf(box), static_cast<uint32_t>(places_.size()));
  if (isNew)
    places_.push_back({&box, {}, {}, {}});
  touches_.push_back({ref, event.pipe, entry->second, access.reads, access.writes, access.atomic});
  lanes_ |= 1u << touches_.back().lane();
  written_ |= access.writes;
  atomics_ |= access.atomic;
}

// Finds the places that may share elements, by a sweep over the first elements behind the pointer: a box is compared with those that have
// begun and not ended yet.
void PointerJudge::findNear() {
  std::vector<uint32_t> order, open;
  std::vector<std::pair<int64_t, int64_t>> reach;
  for (uint32_t i = 0; i < places_.size(); ++i) {
    reach.push_back(reachOf(*places_[i].box));
    order.push_back(i);
    if (!places_[i].box->empty())
      places_[i].near.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return reach[a].first < reach[b].first; });
  for (uint32_t next : order) {
    // Boxes come by their first elements, so one that has ended cannot meet any that follows.
    std::erase_if(open, [&](uint32_t other) { return reach[other].second < reach[next].first; });
    for (uint32_t other : open)
      if (mayOverlap(*places_[other].box, *places_[next].box)) {
        places_[other].near.push_back(next);
        places_[next].near.push_back(other);
      }
    open.push_back(next);
  }
}

const std::vector<uint64_t> &PointerJudge::writesOf(uint32_t place, unsigned core) {
  // The writes of all places are collected in one pass at the first query.
  if (writes_.empty())
    for (const Touch &touch : touches_)
      if (touch.writes && (touch.ref.core == vectors_[0] || touch.ref.core == vectors_[1]))
        writes_[{touch.place, touch.ref.core}].push_back(vectors_.contentOf(touch.ref));
  return writes_[{place, core}];
}

// Whether the order of two vector cores does not matter. This is so if both write the same values
// to the same elements in the same order. A core that reads the elements has then written them
// before, and they do not change; or it does not use what it reads (a core without rows computes
// one that is never stored).
bool PointerJudge::agree(const Touch &first, const Touch &second) {
  // A value that is read but never used cannot make a difference.
  for (const Touch *each : {&first, &second})
    if (each->reads && !each->writes &&
        !isUsed(judged_.kernel, judged_.execution, judged_.ranges, each->ref.core, each->ref.event))
      return true;
  // Boxes that overlap without being the same would have to be compared element by element, and
  // sums depend on how often they are made.
  if (first.place != second.place || first.atomic || second.atomic)
    return false;
  const auto &one = writesOf(first.place, first.ref.core);
  // Both cores have to write the same sequence, not just the same last value.
  if (one != writesOf(first.place, second.ref.core))
    return false;
  if (!first.reads && !second.reads)
    return true;
  const Touch &reader = first.reads ? first : second;
  // If the values change over time, a reader may see another one of them.
  bool changes = std::any_of(one.begin(), one.end(), [&](uint64_t each) { return each != one[0]; });
  return !changes && std::any_of(touches_.begin(), touches_.end(), [&](const Touch &touch) {
    return touch.writes && touch.place == reader.place && touch.ref.core == reader.ref.core &&
           touch.ref.event < reader.ref.event;
  });
}

void PointerJudge::judgePair(const Touch &first, const Touch &second, HazardKind kind) {
  const Order &order = judged_.order;
  // Additions commute, so two of them need no order.
  if ((first.atomic && second.atomic) ||
      // An order in either direction is enough, since `touches_` follows one order among several.
      order.before(first.ref.core, first.pipe, first.ref.event, second.ref.core,
                   second.ref.event) ||
      order.before(second.ref.core, second.pipe, second.ref.event, first.ref.core, first.ref.event))
    return;
  if (judged_.findings.has(DiagId::PipeHazard, judged_.operation(second.ref),
                           judged_.operation(first.ref)) ||
      (vectors_.areBoth(first.ref.core, second.ref.core) && agree(first, second)))
    return;
  const std::string &name = judged_.kernel.pointers[places_[first.place].box->pointer];
  reportHazard(judged_, kind, first.ref, second.ref, name, name);
}

// An element that both cores add is added twice, whatever the order.
void PointerJudge::judgeAtomics() {
  std::vector<EventRef> byCore[2];
  for (const Touch &touch : touches_)
    for (unsigned i = 0; i < 2; ++i)
      if (touch.atomic && touch.ref.core == vectors_[i] && !places_[touch.place].box->empty())
        byCore[i].push_back(touch.ref);
  const std::string &name = judged_.kernel.pointers[places_.front().box->pointer];
  vectors_.judgeTwice(byCore[0], byCore[1], "`" + name + "` gets twice");
}

void PointerJudge::judge() {
  if (atomics_ && vectors_.areTwo())
    judgeAtomics();
  // One pipe that runs in order needs no further order.
  if (!written_ || (lanes_ & (lanes_ - 1)) == 0)
    return;
  // The sequence respects happens-before, so each pair is met with the earlier one first.
  std::stable_sort(touches_.begin(), touches_.end(), [&](const Touch &a, const Touch &b) {
    return judged_.order.cores[a.ref.core].when[a.ref.event] <
           judged_.order.cores[b.ref.core].when[b.ref.event];
  });
  findNear();
  for (uint32_t number = 0; number < touches_.size() && !judged_.enough(); ++number) {
    const Touch &touch = touches_[number];
    auto against = [&](const Last &last, HazardKind kind) {
      // Clearing the lowest set bit visits the lanes that have touched the place.
      for (uint32_t rest = last.mask; rest; rest &= rest - 1)
        judgePair(touches_[last.touch[__builtin_ctz(rest)]], touch, kind);
    };
    for (uint32_t near : places_[touch.place].near) {
      against(places_[near].writers,
              touch.reads ? HazardKind::ReadAfterWrite : HazardKind::WriteAfterWrite);
      if (touch.writes)
        against(places_[near].readers, HazardKind::WriteAfterRead);
    }
    // The last access of each pipe is enough: earlier ones of the same pipe come before it.
    Place &own = places_[touch.place];
    (touch.writes ? own.writers : own.readers).set(touch.lane(), number);
  }
}

// ---- all of them --------------------------------------------------------------------------------

static void judgePrints(const Case &judged, VectorCores &vectors) {
  if (judged.kernel.prints.empty() || !vectors.areTwo())
    return;
  std::vector<EventRef> byCore[2];
  for (unsigned i = 0; i < 2; ++i) {
    const std::vector<Event> &events = judged.execution.cores[vectors[i]].events;
    for (uint32_t e = 0; e < events.size(); ++e)
      if (events[e].kind == Event::Operation &&
          std::find(judged.kernel.prints.begin(), judged.kernel.prints.end(), events[e].op) !=
              judged.kernel.prints.end())
        byCore[i].push_back({vectors[i], e});
  }
  vectors.judgeTwice(byCore[0], byCore[1], "is printed twice");
}

void judgeGlobal(const Case &judged) {
  VectorCores vectors(judged);
  std::vector<PointerJudge> pointers(judged.kernel.pointers.size(), {judged, vectors});
  for (uint32_t core = 0; core < judged.execution.cores.size(); ++core) {
    const Core &trace = judged.execution.cores[core];
    for (uint32_t i = 0; i < trace.events.size(); ++i)
      for (uint32_t a = 0; a < trace.events[i].accesses; ++a) {
        const Access &access = trace.accesses[trace.events[i].access + a];
        if (access.global)
          pointers[judged.execution.boxes[access.bytes].pointer].add({core, i}, trace.events[i],
                                                                     access);
      }
  }
  for (PointerJudge &pointer : pointers)
    pointer.judge();
  judgePrints(judged, vectors);
}

} // namespace ptl::prove
