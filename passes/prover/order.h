// The happens-before order of one execution, by vector clocks over the pipes of all cores; and the
// faults in its synchronisation.
#pragma once

#include "passes/prover/trace.h"

#include <algorithm>

namespace ptl::prove {

/// For each pipe of each core, how many of its operations are complete.
struct Clock {
  uint32_t at[kLanes] = {};
  void join(const Clock &other) {
    for (unsigned i = 0; i < kLanes; ++i)
      at[i] = std::max(at[i], other.at[i]);
  }
};

struct EventRef {
  uint32_t core = 0, event = kNone;
};

/// The operations that are complete at some moment: those of a clock, but for one pipe the first
/// `done`. Pipes proceed alone most of the time, and need no new clock for that.
struct Moment {
  uint32_t clock = 0; ///< index of `Order::clocks`
  uint32_t done = 0;
  uint8_t lane = kNoPipe;
};

struct SyncFault {
  enum Kind {
    SetTwice,        ///< `first`: the new set, `second`: the pending one
    LeftSet,         ///< `first`: the set or the signal
    NeverSet,        ///< `first`: the wait
    BeyondCount,     ///< `first`: the signal that comes before so many others are waited for
    PopWithoutPush,  ///< `first`: the pop
    PushWithoutFree, ///< `first`: the push that finds the queue full for ever
    LeftInQueue,     ///< `first`: the first push that no one pops
    MissingFree,     ///< `first`: the pop whose slot is not given back
    ExtraFree,       ///< `first`: the free
    HeldTwice,       ///< `first`: the pop that comes before the slot of the last one is given back
    Deadlock,        ///< `first`, `second`: two that wait
  };
  Kind kind;
  EventRef first, second;
};

struct Order {
  struct Lane {
    std::vector<Moment> start;   ///< what is complete when the event starts
    std::vector<uint32_t> index; ///< its number on its pipe, from 1; 0: never ran
    std::vector<uint32_t> when;  ///< a sequence of all events that respects the order
  };
  std::vector<Lane> cores;
  std::vector<Clock> clocks = std::vector<Clock>(1); ///< the first: nothing is complete
  std::vector<SyncFault> faults;
  bool finished = true;

  /// The number of operations of a lane that are complete.
  uint32_t complete(const Moment &moment, unsigned lane) const {
    return lane == moment.lane ? moment.done : clocks[moment.clock].at[lane];
  }
  /// Whether `a` is complete when `b` starts. Both ran.
  bool before(uint32_t coreA, uint8_t pipeA, uint32_t a, uint32_t coreB, uint32_t b) const {
    return complete(cores[coreB].start[b], coreA * 8u + pipeA) >= cores[coreA].index[a];
  }
};

Order orderOf(const Kernel &kernel, const Execution &execution, bool vectorBarrier);

} // namespace ptl::prove
