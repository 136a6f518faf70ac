// Chooses iterations of a loop that represent others like them, so that not all iterations are
// simulated.
//
// A loop runs until the times at which pipes reach its iterations show a pace (pace.h); then as
// many iterations as possible are skipped, and the rest runs, because the last one may be shorter.
// When the same loop is entered again, it is known from which iteration on it has that pace. If
// iterations differ (for instance because inner loops get longer), windows are spread over the
// whole loop instead, each representing the iterations around it. Some iterations before each
// window run unmeasured, because after a skip some cores are ahead of others and first have to
// wait.
//
// The scalar unit has no queue and waits for nothing in a loop without work of pipes and queues, so
// what its rounds take is counted rather than timed: as soon as some have shown a period of their
// work, all that take the same branches are skipped.
#pragma once

#include "runtime/sim/loop_control.h"
#include "runtime/sim/pace.h"
#include "runtime/sim/scalar_work.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>

namespace ptl::rt::sim {

/// The properties of a loop that are known without running it.
struct LoopShape {
  bool isLoop = false;
  bool hasInner = false; ///< it contains other loops
  /// tiles pass between cores: all cores of a group skip the same iterations
  bool hasQueues = false;
  uint32_t pipes = 0; ///< bits of the pipes that have work in it
  bool isScalar() const { return isLoop && !hasQueues && pipes == 0; }
  std::optional<LoopControl> control; ///< if iterations may take different branches
};

/// The loops of a function, by their first step. All cores of a kernel have the same period and
/// settle after the same number of iterations, so that those of a group skip the same iterations.
class LoopShapes {
public:
  LoopShapes(const Function &function, const Kernel &kernel);

  const LoopShape &of(size_t step) const { return shapes_[step]; }
  /// The number of iterations after which rotating buffers repeat; 0 if unknown.
  int64_t period() const { return period_; }
  /// The number of iterations after which pipes and cores wait for each other as in the steady
  /// state.
  int64_t settling() const { return settling_; }
  /// How many halves of the kernel, cube and vector, have loops with queues.
  int64_t halves() const { return halves_; }

private:
  /// Returns the longest rotation, that is, the largest number of buffers that a loop uses in
  /// rotation.
  int64_t addTurns(const Function &function);

  std::vector<LoopShape> shapes_;
  int64_t period_ = 1, settling_ = 4, halves_ = 1;
};

/// What a core does at the beginning of an iteration.
struct SampleAction {
  enum class Kind : uint8_t {
    None,
    Round, ///< the beginning of an iteration
    Stand, ///< the same, after skipped iterations
    End,
    Leave
  };
  Kind kind = Kind::None;
  int64_t run = 0;      ///< the number of the execution of the loop
  bool isFirst = false; ///< the first iteration
  int64_t skip = 0;     ///< number of iterations to skip now
  int64_t window = 1;   ///< length of a window in iterations, which ends here
  int64_t factor = 0;   ///< the number of further windows that it represents
  /// time of the skipped iterations; 0: as long as the window took on each pipe
  double cycles = 0;
  bool isMost = false; ///< as long as the window took, but `cycles` at most
};

/// One of the cores that execute a loop.
struct LoopMember {
  std::shared_ptr<const LoopRun> run;
  const LoopControl *control = nullptr; ///< null: all iterations take the same branches
  std::span<const Scalar> scalars;
};

/// A loop with queues while the cores of a group execute it. All of them skip the iterations that
/// the first core to find a pace chooses.
struct QueueLoop {
  struct Agreement {
    int64_t round = 0; ///< the iteration before which all skip
    SampleAction action;
  };
  std::vector<LoopMember> members;
  uint32_t halves = 0; ///< bits: vector, cube
  std::vector<Agreement> agreed;
  bool differs = false; ///< its iterations differ: windows are spread over it

  bool isPending() const;
};
/// Loops with queues, by the number of such loops that a core has entered before.
using LoopsOfGroup = std::map<int64_t, QueueLoop>;

/// The state of a core at the beginning of an iteration or at the end of a loop.
struct LoopVisit {
  size_t step = 0;
  int64_t position = 0, by = 1; ///< of the next iteration; its increment
  int64_t left = 0;             ///< number of remaining iterations
  uint64_t effort = 0;          ///< number of operations that the core has issued so far
  std::span<const Scalar> scalars;
  ScalarWork work; ///< that the scalar unit has done so far, for itself and for skipped iterations
};

enum class SampleMode : uint8_t {
  Glance,   ///< loops are left after some iterations
  Look,     ///< nothing is skipped; only paces are determined
  LeaveOut, ///< iterations represent others
};

/// The sampler of one core's loops.
class LoopSampler {
public:
  LoopSampler(const LoopShapes &shapes, LoopsOfGroup &group, bool isCube, SampleMode mode)
      : shapes_(shapes), group_(group), isCube_(isCube), mode_(mode) {}

  /// Skips no iterations of a loop that passes tiles to other cores if that loop is nested in
  /// another one. Cores in different loops could not agree on the iterations.
  void keepInnerQueues() { keepsInnerQueues_ = true; }

  /// Spreads windows over outermost loops without queues, although their iterations are alike:
  /// later ones take longer if what they load has left the cache by then.
  void measureAllAlong() { measuresAllAlong_ = true; }

  SampleAction visit(const LoopVisit &at);
  /// Records that a pipe has reached the beginning of an iteration, or the end of the loop.
  void pass(const SampleAction &mark, Pipe pipe, LoopRun::Passage passage);

  const LoopShape &shapeOf(const Step &step, const Function &function) const {
    return shapes_.of(static_cast<size_t>(&step - function.steps.data()));
  }
  int64_t skipped() const { return skipped_; }
  /// The work of the scalar unit in the iterations that the last action has skipped. That of loops
  /// with pipes is found by their marks.
  const ScalarWork &represented() const { return represented_; }
  int64_t outermost() const { return outermost_; }
  /// The time of an iteration of each loop, by the loop's step, once pipes are in a steady state or
  /// nearly so.
  const std::map<size_t, double> &rounds() const { return rounds_; }
  /// For a glance: how often an operation issued now would run in one iteration of the outermost
  /// loop.
  double times() const;
  /// The current iteration of the outermost loop among those that ran, counted from 0.
  int64_t outerRound() const { return active_.empty() ? 0 : active_.front()->run->round; }
  /// The same, counting skipped iterations as well.
  int64_t outermostRound() const {
    return active_.empty() ? 0 : active_.front()->trips - active_.front()->run->left;
  }

private:
  struct State {
    std::shared_ptr<LoopRun> run;  ///< null: the loop is not being executed
    int64_t number = 0, trips = 0; ///< number of the execution; its iterations
    QueueLoop *shared = nullptr;
    uint64_t effort = 0; ///< at its beginning
    /// iterations of inner loops in this iteration, and in the previous one
    uint64_t inside = 0, before = 0;
    void note(uint64_t trips) { inside = inside * 1000003 + trips + 1; }
    bool isBegun = false, isMeasured = false, varies = false, isDone = false;
    int64_t lookedAt = 0; ///< number of iterations passed at the last search for a pace
    // These describe windows that are spread over the loop.
    int64_t end = -1; ///< the iteration at which the window ends
    int64_t factor = 0, gap = 0;
    int64_t segments = 0; ///< number of remaining windows
    // These belong to loops of the scalar unit alone.
    int64_t next = 0;               ///< the iteration in which rounds are compared again
    std::vector<ScalarWork> worked; ///< before the last iterations
  };
  /// An execution of a loop that not all pipes have left yet, by its number; with queues, the state
  /// that the cores share.
  struct Passing {
    std::shared_ptr<LoopRun> run;
    const QueueLoop *shared = nullptr;
    int64_t unlike = 0;  ///< its iterations, if they are measured all along
    bool isWhole = true; ///< nothing was skipped
    bool isMeasured = false;
    uint32_t open = 0; ///< bits of pipes that have not reached the end
  };
  void enter(State &state, const LoopVisit &at);
  SampleAction leave(State &state);
  SampleAction act(State &state, const LoopVisit &at);
  SampleAction skipAlike(State &state, const LoopVisit &at);
  SampleAction skipScalar(State &state, const LoopVisit &at);
  void representScalar(State &state, const LoopVisit &at, const SampleAction &action);
  bool goesOnAlike(State &state, const LoopVisit &at) const;
  SampleAction follow(State &state);
  SampleAction propose(State &state, const LoopVisit &at, const Pace &pace);
  bool agesAlong(const State &state) const;
  SampleAction spread(State &state, int64_t left);
  std::optional<Pace> paceOf(State &state, uint64_t effort);
  std::optional<Pace> look(const LoopRun &run, const QueueLoop *shared, double tolerance) const;
  void learn(size_t step, const Pace &pace);
  void passEnd(const Passing &passing);
  bool isMarked(const State &state) const;
  SampleAction round(const State &state) const;
  /// Without a period only loops of the scalar unit are sampled, which use no rotating buffers.
  int64_t period() const { return std::max<int64_t>(shapes_.period(), 1); }
  int64_t inPeriods(int64_t rounds) const { return (rounds + period() - 1) / period() * period(); }

  bool keepsInnerQueues_ = false, measuresAllAlong_ = false;
  const LoopShapes &shapes_;
  LoopsOfGroup &group_;
  bool isCube_;
  SampleMode mode_;
  std::map<size_t, State> states_;
  std::vector<State *> active_; ///< outer before inner
  std::map<int64_t, Passing> passing_;
  std::map<size_t, Pace> paces_;     ///< by loop
  std::map<size_t, double> rounds_;  ///< time per iteration
  std::map<size_t, uint64_t> times_; ///< number of executions
  int64_t runs_ = 0;
  int64_t skipped_ = 0, outermost_ = 0, queueLoops_ = 0;
  ScalarWork represented_;
};

} // namespace ptl::rt::sim
