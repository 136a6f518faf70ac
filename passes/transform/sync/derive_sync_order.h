// Which events and barriers put the dependences of one body in order: what each pipe knows of the
// others, over time.
//
// Time in a body is counted in steps: item `k` runs at `8 k + 7`, and the gap before it has room
// for what is inserted there, in this order: waits for the sake of a set, sets, waits, sets for the
// sake of a later wait, barriers, the first sets of a loop's events. What a pipe knows of another
// is the step up to which (exclusively) that one is done.
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

/// What one pipe knows of each: up to where its instructions are done; and up to where its waits
/// are over, too. An item with bodies that did not run tells the first alone.
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

/// Why something waits. `reuse`: for the sake of an event that is used again; then there is no
/// hazard.
struct Reason {
  const Touch *src = nullptr, *dst = nullptr;
  Hazard hazard = Hazard::RAW;
  bool reuse = false, carried = false;
  int64_t distance = 1; ///< iterations between, if carried
};

/// All of `src` before `srcStep` must be done before `dst` goes on at `waitStep`.
struct Need {
  Pipe src, dst;
  Step srcStep, setStep, waitStep;
  bool carried = false;
  int frame = -1;
  Reason reason;
  bool barrier = false; ///< made by a barrier
};

/// The slot that a turn of a buffer uses: a constant, a number that is known at the start of the
/// body, or the number of the iteration.
struct SlotNumber {
  enum Kind : uint8_t { Constant, Number, Iteration } kind = Constant;
  int64_t constant = 0;
  mlir::Value number;
};

/// A set and a wait in one body. Carried: the set serves the wait of a later iteration; of the next
/// one with the same slot, if there is a frame, else of the next. `slots`: ids `id .. id + slots -
/// 1`, by the frame's number.
struct Event {
  Pipe src, dst;
  Step setStep, waitStep;
  bool carried = false;
  int frame = -1;
  int64_t slots = 1;
  int id = -1;
  int shared = -1; ///< events of a body and a pair with this number have one id
  /// Of a buffer that is used in turns: events of equal pair, resource and number have the same
  /// ids, by the slot of the turn.
  int resource = -1, number = 0;
  SlotNumber slot;
  bool blind = false; ///< carried, and it is not known from which iteration
  Reason reason;
};

struct BarrierPoint {
  Step step;
  bool all; ///< all pipes; else the vector pipe
  Reason reason;
};

/// What a body's item leaves behind, apart from its instructions.
struct ItemEffect {
  /// By pair (of whom, who): at the end of the item the second pipe knows all that the first did in
  /// it.
  std::array<bool, kNumPairs> knows{};
  /// Events whose first sets stand before the item and last waits after it. `covers`: these follow
  /// all that the source pipe does in the item.
  struct Drain {
    Pipe src, dst;
    bool covers; ///< these follow all that the source pipe does in the item
    bool own;    ///< the item is the loop of the event
    Reason reason;
  };
  std::vector<Drain> drains;
  /// Pairs with events inside that another round of the item must not overtake, and one of these.
  std::map<size_t, Reason> pending;
  /// Loops: the events inside order all rounds of the item among themselves.
  bool selfOrdered = false;
};

/// How an order is made of few ids; grows for a pair of pipes when ids run out. `Merged`: one event
/// for several dependences where that is possible. `Plain`: within an iteration, no ids in turn.
/// `Shared`: there, few ids that are used again and again. `Unrotated`: no ids in turn between
/// iterations either. `Barriers`: of all pipes.
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

/// What each pipe knows of the others, over the steps of one body.
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
  /// Keeps what the pipe knows now as of this step on.
  void note(Pipe pipe, Step step);
  void notePast(Pipe pipe, Step step);
  /// What an event that the pipe sets at this step tells.
  Clock contribution(Pipe src, Step setStep) const;
  void learn(const Event &event);
  void applyBarrier(const BarrierPoint &barrier);

  std::array<Clock, kNumPipes> now;
  std::array<Past, kNumPipes> past;
  Log<Clock> clocks;
  Log<Past> pasts;
};

/// Solves one body. Needs first, then `solve`; more needs may be added, and `solve` called again.
class BodyOrder {
public:
  BodyOrder(const Body &body, std::vector<ItemEffect> effects, const SyncPolicy &policy)
      : body_(body), effects_(std::move(effects)), policy_(policy) {}

  void addNeed(Need need);
  void addDependence(const Dependence &dependence);
  /// Sets at `setStep` for waits at `waitStep` whatever is needed.
  void addSeed(const Event &event) { seeds_.push_back(event); }
  /// The turns of buffers in this body.
  void setPhases(llvm::ArrayRef<Phase> phases, llvm::ArrayRef<Resource> resources);
  /// `dst` may set at `setAgain` only after `src` has waited at `waited`.
  void addReuse(Pipe src, Pipe dst, Step waited, Step setAgain, bool carried, Reason reason);
  /// Chooses events and barriers; in loops also adds what makes them safe to use again. False if
  /// that does not come to an end: then the pairs of pipes need more effort.
  bool solve();

  /// After `solve` was false: the pairs that must do with barriers; if none is named, all.
  llvm::ArrayRef<size_t> hopeless() const { return hopeless_; }

  const Body &body() const { return body_; }
  const std::vector<ItemEffect> &effects() const { return effects_; }
  std::vector<Event> &events() { return events_; }
  const std::vector<Event> &events() const { return events_; }
  const std::vector<BarrierPoint> &barriers() const { return barriers_; }
  unsigned numNeeds() const { return static_cast<unsigned>(needs_.size()); }

  /// Up to where `pipe` knows before `step` that the waits of `of` are over.
  Step knownOver(Pipe pipe, Step step, Pipe of) const {
    return known_.clockAt(pipe, step).over[pipeIndex(of)];
  }
  /// Whether at the end of the body `pipe` knows all that `of` does in it.
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
