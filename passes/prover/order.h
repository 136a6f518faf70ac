// The happens-before order of one execution, by vector clocks over the pipes of all cores, and the
// errors in its synchronisation.
#pragma once

#include "passes/prover/trace.h"

#include <algorithm>

namespace ptl::prove {

/// For each pipe of each core, the number of its operations that are complete.
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

/// The operations that are complete at some moment: those of a clock, except that for one pipe the
/// first `done` are. Pipes proceed independently most of the time, and then need no new clock.
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
    BeyondCount,     ///< `first`: the signal that exceeds the counter before waits lower it
    PopWithoutPush,  ///< `first`: the pop
    PushWithoutFree, ///< `first`: the push that finds the queue full forever
    LeftInQueue,     ///< `first`: the first push that is never popped
    MissingFree,     ///< `first`: the pop whose slot is not freed
    ExtraFree,       ///< `first`: the free
    HeldTwice,       ///< `first`: the pop before the slot of the last one is freed
    Deadlock,        ///< `first`, `second`: two that wait for each other
  };
  Kind kind;
  EventRef first, second;
};

struct Order {
  struct Lane {
    std::vector<Moment> start;   ///< what is complete when the event starts
    std::vector<uint32_t> index; ///< its number on its pipe, from 1; 0: it never ran
    std::vector<uint32_t> when;  ///< a linear extension of the order over all events
  };
  std::vector<Lane> cores;
  std::vector<Clock> clocks = std::vector<Clock>(1); ///< the first: nothing is complete
  std::vector<SyncFault> faults;
  bool finished = true;

  /// The number of a lane's operations that are complete.
  uint32_t complete(const Moment &moment, unsigned lane) const {
    return lane == moment.lane ? moment.done : clocks[moment.clock].at[lane];
  }
  /// Whether `a` is complete when `b` starts. Precondition: both ran.
  bool before(uint32_t coreA, uint8_t pipeA, uint32_t a, uint32_t coreB, uint32_t b) const {
    return complete(cores[coreB].start[b], coreA * 8u + pipeA) >= cores[coreA].index[a];
  }
};

Order orderOf(const Kernel &kernel, const Execution &execution, bool vectorBarrier);

} // namespace ptl::prove
