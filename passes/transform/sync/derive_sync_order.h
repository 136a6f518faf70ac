// Chooses the events and barriers that enforce the dependences of one body, from what each pipe
// knows of the others over time.
//
// Time in a body is counted in steps: item `k` runs at `8 k + 7`, and the gap in front of it has
// room for insertions, in this order: waits needed before a set, sets, waits, sets needed before a
// later wait, barriers, the first sets of a loop's events. What a pipe knows of another is the step
// up to which (exclusively) that one has certainly finished.
#pragma once

#include "passes/analysis/block_dependence.h"

#include <set>

namespace ptl::pto {

using Step = int32_t;
inline constexpr Step kNever = -1, kAll = std::numeric_limits<Step>::max();
enum GapStep : Step {
  PreWait = 0,
  Set = 1,
  Wait = 2,
  PostSet = 3,
  Barrier = 4,
  FirstSet = 5,
  Execute = 7
};
inline constexpr Step stepOf(int item, GapStep step) { return 8 * item + step; }
inline constexpr int gapOf(Step step) { return step / 8; }

/// What one pipe knows of each other one: up to which step its instructions have finished, and up
/// to which step its waits have ended, too. An item with bodies that did not run ensures only the
/// former.
struct Clock {
  std::array<Step, kNumPipes> done, over;

  void fill(Step step) {
    done.fill(step);
    over.fill(step);
  }
  void set(size_t pipe, Step step) { done[pipe] = over[pipe] = step; }
  void raise(size_t pipe, Step step) {
    done[pipe] = std::max(done[pipe], step);
    over[pipe] = std::max(over[pipe], step);
  }
};
inline constexpr Pipe pipeAt(size_t index) { return static_cast<Pipe>(index); }
inline size_t pipeIndex(Pipe pipe) { return static_cast<size_t>(pipe); }
inline size_t pairIndex(Pipe from, Pipe to) { return pipeIndex(from) * kNumPipes + pipeIndex(to); }
inline constexpr size_t kNumPairs = kNumPipes * kNumPipes;

/// The reason of a wait. `reuse`: it is needed before an event can be reused; then there is no
/// hazard.
struct Reason {
  const Touch *src = nullptr, *dst = nullptr;
  Hazard hazard = Hazard::RAW;
  bool reuse = false, carried = false;
  int64_t distance = 1; ///< iterations in between, if carried
};

/// A requirement: everything in `src` before `srcStep` must be finished before `dst` continues at
/// `waitStep`.
struct Need {
  Pipe src, dst;
  Step srcStep, setStep, waitStep;
  bool carried = false;
  int frame = -1;
  Reason reason;
  bool barrier = false; ///< satisfied by a barrier
};

/// The slot that one turn of a rotating buffer uses: a constant, a number that is known at the
/// start of the body, or the number of the iteration.
struct SlotNumber {
  enum Kind : uint8_t { Constant, Number, Iteration } kind = Constant;
  int64_t constant = 0;
  mlir::Value number;
};

/// A set and a wait in one body. If carried, the set pairs with the wait of a later iteration: with
/// a frame, of the next iteration with the same slot, otherwise of the next iteration. `slots`: ids
/// `id .. id + slots - 1`, selected by the frame's number.
struct Event {
  Pipe src, dst;
  Step setStep, waitStep;
  bool carried = false;
  int frame = -1;
  int64_t slots = 1;
  int id = -1;
  int shared = -1; ///< events of a body and a pair with this number share one id
  /// Of a rotating buffer: events with equal pair, resource and number share their ids, selected by
  /// the slot of the turn.
  int resource = -1, number = 0;
  SlotNumber slot;
  bool blind = false; ///< carried, from an unknown iteration
  Reason reason;
};

struct BarrierPoint {
  Step step;
  bool all; ///< all pipes; otherwise the vector pipe
  Reason reason;
};

/// The effect of a body's item on synchronisation, apart from its instructions.
struct ItemEffect {
  /// By pair (source, observer): at the end of the item the second pipe knows everything that the
  /// first did in it.
  std::array<bool, kNumPairs> knows{};
  /// Events whose first sets precede the item and whose last waits follow it. `covers`: the waits
  /// follow everything that the source pipe does in the item.
  struct Drain {
    Pipe src, dst;
    bool covers; ///< these follow everything that the source pipe does in the item
    bool own;    ///< the item is the loop of the event
    Reason reason;
  };
  std::vector<Drain> drains;
  /// Pairs with events inside that another round of the item must not overtake, each with a reason.
  std::map<size_t, Reason> pending;
  /// For loops: the events inside order all rounds of the item.
  bool selfOrdered = false;
};

/// How far precision is given up to save ids; it is increased for a pair of pipes when ids run out.
/// `Merged`: one event for several dependences if possible. `Plain`: within an iteration, no ids in
/// rotation. `Shared`: in addition, few ids that are reused there. `Unrotated`: no ids in rotation
/// between iterations either. `Barriers`: barriers of all pipes.
enum class Effort : uint8_t { Precise, Merged, Plain, Shared, Unrotated, Barriers };

struct SyncPolicy {
  std::array<Effort, kNumPairs> effort{};
  bool vectorBarrier = true;
  int64_t eventIds = 8;

  Effort of(Pipe from, Pipe to) const { return effort[pairIndex(from, to)]; }
  /// How many ids the events within an iteration share; 0: each has its own.
  int64_t shared(Pipe from, Pipe to) const {
    Effort here = of(from, to);
    return here == Effort::Shared      ? std::max<int64_t>(1, eventIds / 2)
           : here == Effort::Unrotated ? std::max<int64_t>(1, eventIds / 4)
                                       : 0;
  }
};

struct Phase;
struct Resource;

/// What each pipe knows of the others, at each step of one body.
class Knowledge {
public:
  /// What a pipe knows of the previous iteration, and of the last one with the same slots.
  struct Past {
    Clock previous;
    llvm::SmallVector<Clock, 2> frames;
  };
  template <typename T> using Log = std::array<std::vector<std::pair<Step, T>>, kNumPipes>;

  /// Before a step.
  const Clock &clockAt(Pipe pipe, Step step) const;
  const Past &pastAt(Pipe pipe, Step step) const;
  /// Records what the pipe knows from this step on.
  void note(Pipe pipe, Step step);
  void notePast(Pipe pipe, Step step);
  /// The knowledge that an event which the pipe sets at this step transfers.
  Clock contribution(Pipe src, Step setStep) const;
  void learn(const Event &event);
  void applyBarrier(const BarrierPoint &barrier);

  std::array<Clock, kNumPipes> now;
  std::array<Past, kNumPipes> past;
  Log<Clock> clocks;
  Log<Past> pasts;
};

/// The solver of one body. Requirements are added first, then `solve` is called; more may be added,
/// and `solve` called again.
class BodyOrder {
public:
  BodyOrder(const Body &body, std::vector<ItemEffect> effects, const SyncPolicy &policy)
      : body_(body), effects_(std::move(effects)), policy_(policy) {}

  void addNeed(Need need);
  void addDependence(const Dependence &dependence);
  /// Adds an event that is set at `setStep` for waits at `waitStep` in any case.
  void addSeed(const Event &event) { seeds_.push_back(event); }
  /// Sets the turns of rotating buffers in this body.
  void setPhases(llvm::ArrayRef<Phase> phases, llvm::ArrayRef<Resource> resources);
  /// Adds a requirement: `dst` may set an event at `setAgain` only after `src` has waited for it at
  /// `waited`.
  void addReuse(Pipe src, Pipe dst, Step waited, Step setAgain, bool carried, Reason reason);
  /// Chooses events and barriers; in loops also adds what makes them safe to reuse. False if the
  /// iteration does not converge: then the pairs of pipes need more effort.
  bool solve();

  /// After `solve` returned false: the pairs for which only barriers are left; if empty, all pairs.
  llvm::ArrayRef<size_t> hopeless() const { return hopeless_; }

  const Body &body() const { return body_; }
  const std::vector<ItemEffect> &effects() const { return effects_; }
  std::vector<Event> &events() { return events_; }
  const std::vector<Event> &events() const { return events_; }
  const std::vector<BarrierPoint> &barriers() const { return barriers_; }
  unsigned numNeeds() const { return static_cast<unsigned>(needs_.size()); }

  /// Up to which step `pipe` knows, before `step`, that the waits of `of` have ended.
  Step knownOver(Pipe pipe, Step step, Pipe of) const {
    return known_.clockAt(pipe, step).over[pipeIndex(of)];
  }
  /// Whether `pipe` knows at the end of the body everything that `of` does in it.
  bool knowsAllAtEnd(Pipe pipe, Pipe of) const;
  int numItems() const { return static_cast<int>(body_.items.size()); }

private:
  void runForward();
  void runCarried();
  bool makeReusable();
  bool reuseTurns();
  bool isFreeBy(const Event &event, const Phase &phase) const;
  void giveTurns();
  bool reuseEvent(Event &event);
  bool reuseItems();
  bool shareIds();
  bool shareIds(llvm::ArrayRef<Event *> events, size_t ids);
  void mergeRuns(llvm::ArrayRef<const Event *> events,
                 llvm::function_ref<bool(const Event &, const Event &)> joins);
  bool mergeForward();
  bool mergeCarried();
  bool isAdjacent(const Event &a, const Event &b) const;
  bool keepBarriers();
  void applyItem(int item);
  void applyItemPast(int item);
  void forwardGroup(llvm::ArrayRef<const Need *> group);
  void carriedGroup(llvm::ArrayRef<const Need *> group);
  void applyBarrierPast(const BarrierPoint &barrier);
  void learnPast(const Event &event);
  Step lastBefore(Pipe pipe, int item) const;
  Event eventOf(const Need &need) const;

  const Body &body_;
  std::vector<ItemEffect> effects_;
  const SyncPolicy &policy_;
  std::vector<Need> needs_;
  std::vector<Event> seeds_;
  llvm::ArrayRef<Phase> phases_;
  llvm::ArrayRef<Resource> resources_;
  std::vector<Event> merged_; ///< seeds of one `solve`
  std::vector<BarrierPoint> kept_;
  std::vector<size_t> hopeless_;
  std::vector<Event> events_;
  std::vector<BarrierPoint> barriers_;
  Knowledge known_;
  std::array<std::vector<int>, kNumPipes> itemsOf_;
};

} // namespace ptl::pto
