// Chooses rounds of a loop that represent others like them, so that not all rounds have to be
// simulated. A loop runs until the times at which pipes reach its rounds show a pace (pace.h); then
// as many rounds as possible are left out, and the rest runs, because the last round may be
// shorter. When the same loop is entered again, it is known from which round on it keeps the pace.
// Where rounds differ (for instance because inner loops get longer), windows are spread over the
// whole loop instead, each representing the rounds around it. Some rounds before each window run
// unmeasured, because after rounds were left out some cores are ahead of others and first have to
// wait.
#pragma once

#include "runtime/sim/loop_control.h"
#include "runtime/sim/pace.h"

#include <bit>
#include <map>
#include <memory>
#include <optional>

namespace ptl::rt::sim {

/// The properties of a loop that are known without running it.
struct LoopShape {
  bool isLoop = false;
  bool hasInner = false;  ///< other loops are in it
  bool hasQueues = false; ///< tiles from and for other cores: all of a group leave out the same
  uint32_t pipes = 0;     ///< bits of those that have something to do in it
  std::optional<LoopControl> control; ///< where rounds may go different ways
};

/// The loops of a function, by the step that they begin with. All cores of a kernel have the same
/// period and settle after the same number of rounds, so that those of a group leave out the same
/// rounds.
class LoopShapes {
public:
  LoopShapes(const Function &function, const Kernel &kernel);

  const LoopShape &of(size_t step) const { return shapes_[step]; }
  /// After this number of rounds the buffers that are used in turn repeat; 0 if unknown.
  int64_t period() const { return period_; }
  /// After this number of rounds pipes and cores wait for each other as they do until the end.
  int64_t settling() const { return settling_; }
  /// How many halves of the kernel, cube and vector, have loops with queues.
  int64_t halves() const { return halves_; }

private:
  /// Returns the longest turn, that is, the largest number of buffers that a loop uses in turn.
  int64_t addTurns(const Function &function);

  std::vector<LoopShape> shapes_;
  int64_t period_ = 1, settling_ = 4, halves_ = 1;
};

/// What a core has to do at the beginning of a round.
struct SampleAction {
  enum class Kind : uint8_t {
    None,
    Round, ///< another round begins
    Stand, ///< the same, after those that are left out
    End,
    Leave
  };
  Kind kind = Kind::None;
  int64_t run = 0;      ///< the number of the time that the loop is gone through
  bool isFirst = false; ///< it begins
  int64_t skip = 0;     ///< rounds to leave out now
  int64_t window = 1;   ///< the last so many rounds
  int64_t factor = 0;   ///< stand for so many more of that length
  double cycles = 0;    ///< which take as long; 0: as long as those took on each pipe
  bool isMost = false;  ///< as long as those took, but not longer than that
};

/// One of the cores that go through a loop.
struct LoopMember {
  std::shared_ptr<const LoopRun> run;
  const LoopControl *control = nullptr; ///< null: rounds go the same ways
  std::span<const Scalar> scalars;
};

/// A loop with queues while the cores of a group execute it. All of them leave out the rounds that
/// the first core to find a pace decides on.
struct QueueLoop {
  struct Agreement {
    int64_t round = 0; ///< before which all leave rounds out
    SampleAction action;
  };
  std::vector<LoopMember> members;
  uint32_t halves = 0; ///< bits: vector, cube
  std::vector<Agreement> agreed;
  bool differs = false; ///< its rounds do: windows are spread over it

  bool isPending() const;
};
/// Loops with queues, by the number of such loops that a core entered before.
using LoopsOfGroup = std::map<int64_t, QueueLoop>;

/// The state of a core that is at the beginning of a round or at the end of a loop.
struct LoopVisit {
  size_t step = 0;
  int64_t position = 0, by = 1; ///< of the round that is next; from round to round
  int64_t left = 0;             ///< rounds that are still to come
  uint64_t effort = 0;          ///< operations that the core has issued so far
  std::span<const Scalar> scalars;
};

enum class SampleMode : uint8_t {
  Glance,   ///< loops are left after some rounds
  Look,     ///< nothing is left out: for the paces alone
  LeaveOut, ///< rounds stand for others
};

/// The state of the loops of one core while it runs.
class LoopSampler {
public:
  LoopSampler(const LoopShapes &shapes, LoopsOfGroup &group, bool isCube, SampleMode mode)
      : shapes_(shapes), group_(group), isCube_(isCube), mode_(mode) {}

  /// Leaves out no rounds of a loop that hands tiles to other cores if that loop is inside another
  /// one. Cores that are in different loops could not agree on the rounds.
  void keepInnerQueues() { keepsInnerQueues_ = true; }

  SampleAction visit(const LoopVisit &at);
  /// Notes that a pipe has reached the beginning of a round, or the end of the loop.
  void pass(const SampleAction &mark, Pipe pipe, LoopRun::Passage passage);

  const LoopShape &shapeOf(const Step &step, const Function &function) const {
    return shapes_.of(static_cast<size_t>(&step - function.steps.data()));
  }
  int64_t skipped() const { return skipped_; }
  int64_t outermost() const { return outermost_; }
  /// What a round of each loop takes, by the loop's step, once pipes are in step or nearly so.
  const std::map<size_t, double> &rounds() const { return rounds_; }
  /// For a glance: how often an operation issued now would run in one round of the outermost loop.
  double times() const;
  /// The round of the outermost loop that runs, counted from 0.
  int64_t outerRound() const { return active_.empty() ? 0 : active_.front()->run->round; }
  /// The same, with those that have been left out.
  int64_t outermostRound() const {
    return active_.empty() ? 0 : active_.front()->trips - active_.front()->run->left;
  }

private:
  struct State {
    std::shared_ptr<LoopRun> run;  ///< null: it does not run
    int64_t number = 0, trips = 0; ///< of the run; its rounds
    QueueLoop *shared = nullptr;
    uint64_t effort = 0;             ///< when it began
    uint64_t inside = 0, before = 0; ///< how often inner loops went round in this round, the last
    void note(uint64_t trips) { inside = inside * 1000003 + trips + 1; }
    bool isBegun = false, isMeasured = false, varies = false, isDone = false;
    int64_t lookedAt = 0; ///< rounds that had passed
    // These describe windows that are spread over the loop.
    int64_t end = -1; ///< the round at which the window ends
    int64_t factor = 0, gap = 0;
    int64_t segments = 0; ///< of them that are still to come
  };
  /// An execution of a loop that not all pipes have left yet, by its number; with queues, the state
  /// that the cores share.
  struct Passing {
    std::shared_ptr<LoopRun> run;
    const QueueLoop *shared = nullptr;
    bool isWhole = true; ///< nothing was left out
    bool isMeasured = false;
    uint32_t open = 0; ///< bits of pipes that have not come to the end
  };
  void enter(State &state, const LoopVisit &at);
  SampleAction leave(State &state);
  SampleAction act(State &state, const LoopVisit &at);
  SampleAction skipAlike(State &state, const LoopVisit &at);
  bool goesOnAlike(State &state, const LoopVisit &at) const;
  SampleAction follow(State &state);
  SampleAction propose(State &state, const LoopVisit &at, const Pace &pace);
  SampleAction spread(State &state, int64_t left);
  std::optional<Pace> paceOf(State &state, uint64_t effort);
  std::optional<Pace> look(const LoopRun &run, const QueueLoop *shared, double tolerance) const;
  void learn(size_t step, const Pace &pace);
  void passEnd(const Passing &passing);
  SampleAction round(const State &state) const;
  int64_t inPeriods(int64_t rounds) const {
    return (rounds + shapes_.period() - 1) / shapes_.period() * shapes_.period();
  }

  bool keepsInnerQueues_ = false;
  const LoopShapes &shapes_;
  LoopsOfGroup &group_;
  bool isCube_;
  SampleMode mode_;
  std::map<size_t, State> states_;
  std::vector<State *> active_; ///< outer before inner
  std::map<int64_t, Passing> passing_;
  std::map<size_t, Pace> paces_;     ///< by loop
  std::map<size_t, double> rounds_;  ///< what they take
  std::map<size_t, uint64_t> times_; ///< that it was come to
  int64_t runs_ = 0;
  int64_t skipped_ = 0, outermost_ = 0, queueLoops_ = 0;
};

} // namespace ptl::rt::sim
