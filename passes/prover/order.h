// Happens-before of one execution, by vector clocks over the pipes of all cores; and what of its
// synchronisation fails.
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
    std::vector<Clock> start;    ///< what is complete when the event starts
    std::vector<uint32_t> index; ///< its number on its pipe, from 1; 0: never ran
    std::vector<uint32_t> when;  ///< a sequence of all events that respects the order
  };
  std::vector<Lane> cores;
  std::vector<SyncFault> faults;
  bool finished = true;

  /// Whether `a` is complete when `b` starts. Both ran.
  bool before(uint32_t coreA, uint8_t pipeA, uint32_t a, uint32_t coreB, uint32_t b) const {
    return cores[coreB].start[b].at[coreA * 8 + pipeA] >= cores[coreA].index[a];
  }
};

Order orderOf(const Kernel &kernel, const Execution &execution, bool vectorBarrier);

} // namespace ptl::prove
