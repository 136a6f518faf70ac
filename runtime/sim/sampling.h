// Which rounds of a loop stand for others that are like them, so that times need not be simulated
// to the end. A loop runs some rounds until its pipes have fallen into step, then a window of
// rounds that is measured, then leaves out as many windows as it can, and runs the rest, whose last
// round may be a shorter one. Where rounds differ (the loops in them go round more and more often),
// windows are spread over the whole loop instead, each standing for those around it. Before each,
// some rounds run unmeasured: cores that are ahead of each other after what was left out wait
// there.
#pragma once

#include "runtime/sim/program.h"

#include <map>
#include <vector>

namespace ptl::rt::sim {

/// What is known of a loop without running it.
struct LoopShape {
  bool isLoop = false;
  bool hasInner = false;  ///< other loops are in it
  bool hasQueues = false; ///< tiles from and for other cores: all of a group leave out the same
};

/// The loops of a function, by the step that they begin with. All cores of a kernel have the same
/// period and settle as late: those of a group leave out the same rounds.
class LoopShapes {
public:
  LoopShapes(const Function &function, const Kernel &kernel);

  const LoopShape &of(size_t step) const { return shapes_[step]; }
  /// After so many rounds buffers that are used in turn come again; 0: who knows.
  int64_t period() const { return period_; }
  /// So many rounds until pipes and cores wait for each other as they will to the end.
  int64_t settling() const { return settling_; }

private:
  /// Returns the longest turn.
  int64_t addTurns(const Function &function);

  std::vector<LoopShape> shapes_;
  int64_t period_ = 1, settling_ = 4;
};

/// What a core does when a loop is at its beginning.
struct SampleAction {
  enum class Kind : uint8_t { None, Begin, End, Leave };
  Kind kind = Kind::None;
  int64_t factor = 0; ///< of an end: the window stands for so many more of its length
  int64_t skip = 0;   ///< rounds to leave out now
  int64_t window = 1; ///< rounds that were measured
};

/// How much of a loop with queues a core group leaves out: what the first core to come there says.
using SkipsOfGroup = std::map<int64_t, int64_t>;

/// The loops of one core while it runs.
class LoopSampler {
public:
  /// `glance`: loops are left after some rounds instead.
  LoopSampler(const LoopShapes &shapes, SkipsOfGroup &group, bool glance)
      : shapes_(shapes), group_(group), glance_(glance) {}

  /// Called before each round of a loop and at its end; `left`: rounds that are still to come.
  SampleAction visit(size_t step, int64_t left);
  int64_t skipped() const { return skipped_; }
  int64_t seen() const { return seen_; }
  /// Of the outermost loop that runs, counted from 0.
  int64_t outerRound() const { return active_.empty() ? 0 : active_.front()->round; }

private:
  struct State {
    bool active = false;
    int64_t round = 0; ///< that ran so far
    int64_t window = 0, warm = 0;
    uint64_t inside = 0, before = 0; ///< how often inner loops went round in this round, the last
    bool varies = false;
    int64_t end = -1;            ///< the round at which the window ends
    int64_t factor = 0, gap = 0; ///< of windows that are spread over the loop
    int64_t begin = -1;          ///< the round at which the next of them begins
    int64_t segments = 0;        ///< of them that are still to come
  };
  void enter(State &state, size_t step, int64_t trips);
  SampleAction act(State &state, size_t step, int64_t left);
  SampleAction skipAlike(State &state, size_t step, int64_t left);
  SampleAction spread(State &state, int64_t left);

  const LoopShapes &shapes_;
  SkipsOfGroup &group_;
  bool glance_;
  std::map<size_t, State> states_;
  std::vector<State *> active_; ///< outer before inner
  int64_t skipped_ = 0, seen_ = 0, queueLoops_ = 0;
};

} // namespace ptl::rt::sim
