// The state of tasks, core groups, cores and pipes in a timed run.
#pragma once

#include "runtime/sim/group.h"
#include "runtime/sim/time/large_vector.h"
#include "runtime/sim/time/repeats.h"
#include "runtime/sim/time/shared.h"
#include "runtime/sim/time/sharing.h"
#include "runtime/sim/time/timer.h"

#include <map>

namespace ptl::rt::sim {

/// The state of a pipe of a core.
struct PipeClock {
  Cycles free = 0;     ///< end of the last operation
  Cycles settled = 0;  ///< from when dependent operations may begin
  bool filled = false; ///< the last operation was an instruction
  bool works = false;  ///< it has executed an instruction
  bool isHeld = false; ///< it waits for `standing`
  Cycles ownEnd = 0;   ///< end of the running operation if nothing delays it
  Cycles least = 0;    ///< its duration if no other core moves anything
  Cycles tail = 0;
  int pending = 0;  ///< number of transfers that it waits for
  int standing = 0; ///< number of transfers of represented iterations that are still in progress
  uint32_t site = 0;
  Cycles started = 0;
  Cycles others = 0; ///< of the running operation: what it waited for transfers of other launches
  Cycles allOthers = 0; ///< the same of all of the block, those included that are not simulated
  Cycles worked = 0;    ///< time in which it was not idle
  uint32_t record = kNoRecord, last = kNoRecord;
  int64_t bytes = 0, missed = 0; ///< of the running operation
  int32_t array = -1;            ///< of its launch, if data choose the place that it reads
  int64_t brought = 0;           ///< likewise, what it and those that it represents bring into L2

  /// The times at which the iterations of the running loops began; `first` is the number of entries
  /// of `done` at that moment.
  struct Round {
    Cycles time;
    size_t first;
  };
  struct Done {
    uint32_t site;
    SiteTotal total;
    int64_t bytes, missed, brought;
    Cycles others;
    int32_t array;
  };
  struct Window {
    Cycles took = 0, worked = 0, others = 0;
  };
  /// What its last iterations took.
  Window lastWindow(int64_t window) const;
  std::vector<std::vector<Round>> loops;
  LargeVector<Done> done;
};

struct GroupClock;

struct CoreClock {
  Core *core = nullptr;
  GroupClock *group = nullptr;
  uint32_t number = 0;    ///< index in the engine's list
  uint32_t firstLane = 0; ///< of its pipes
  uint32_t firstSite = 0; ///< of its function
  PipeClock pipes[kNumPipes];
  /// By pipe, a lower bound of the time at which its head may begin, if that is known: an event
  /// will inspect it then. `never` while an operation runs. It is stored apart from the pipes'
  /// states, since cores are queried far more often than their pipes advance.
  Cycles notBefore[kNumPipes] = {};
  Cycles scalar = 0;
  bool begun = false;
  bool scalarWaits = false;
  uint32_t scalarRecord = kNoRecord;
  Cycles scalarBusy = 0;                        ///< time in which it did not wait
  std::vector<std::vector<Cycles>> scalarLoops; ///< by loop, its time before each iteration
  /// Pipes that have reached a place where iterations are skipped, while others have not.
  struct Standing {
    uint32_t open = 0;    ///< bits of those that have not
    Cycles window = 0;    ///< the longest window so far
    Cycles at[kNumPipes]; ///< times of arrival
    bool isLate[kNumPipes];
  };
  std::map<int64_t, Standing> standing; ///< by the number of the loop's execution
  /// Likewise, what other launches delayed a window of rounds that stands for others.
  std::map<std::pair<int64_t, size_t>, Cycles> delays;
  Cycles flagTime[kNumPipes][kNumPipes][16] = {};
  uint32_t flagRecord[kNumPipes][kNumPipes][16];
};

/// What a block took that was simulated.
struct BlockTime {
  Cycles took = 0;   ///< from the time at which it had its cores
  Cycles others = 0; ///< of that, what the transfers of other launches delayed it
  int64_t bytes = 0, missed = 0;
  Cycles alone() const { return took - others; }
};

/// The state of a task since its submission.
struct LaunchClock {
  TaskRequest request;
  uint32_t number = 0; ///< of its span
  std::vector<uint32_t> successors;
  /// elements that it accesses; the same along the longest path to the end
  int64_t cost = 0, costToEnd = 0;
  uint32_t waiting = 0; ///< number of predecessors, plus one for its own submission
  bool done = false;
  Cycles dispatched = 0; ///< the time at which a scheduler dispatched it

  // The members below are set when a kernel is dispatched.
  Options options;
  std::optional<LaunchState> state;
  std::optional<Sharing> sharing; ///< if some core groups represent all
  int64_t working = 0;            ///< number of core groups that move data; 0: possibly all
  std::vector<std::unique_ptr<uint8_t[]>> storage;
  bool begun = false;     ///< it has been assigned cores
  int64_t open = 0;       ///< number of blocks that have not ended
  uint32_t firstSite = 0; ///< of its functions
  std::vector<SiteTotal> totals;
  std::vector<bool> used; ///< by lane, if launches may be repeated
  int64_t bytes = 0, missed = 0;
  /// If its arrays fit into L2 together and it is sampled: for each, the bytes that places which data
  /// choose may still miss. None does twice.
  std::vector<double> toMiss;
  /// Of bytes of an array that miss in the groups that a block represents, those of one group that do
  /// so for the first time.
  int64_t firstMisses(int32_t array, int64_t bytes, int64_t block);
  int64_t brought = 0;            ///< what all of its core groups bring into L2
  uint32_t filled = 0;            ///< lines that had been brought into L2 when it began
  std::vector<ByteRange> touched; ///< for each of its arrays
  Repeats::Turn turn;
  std::vector<LaunchResult::Block> ran; ///< by block, if launches may be repeated
  /// For each block that represents others, the spans of the represented blocks that wait for its
  /// end, and what it took once it has ended.
  std::map<int64_t, std::vector<uint32_t>> behind;
  std::map<int64_t, BlockTime> took;

  /// If some blocks represent all: the number of working blocks that have had their cores, and whether all got them at once.
  int64_t present = 0;
  bool isTogether = false;
  Cycles firstAt = 0; ///< when it was assigned the first cores

  double weightOf(int64_t block) const { return sharing ? sharing->weightOf(block) : 1; }
  /// The same at the bandwidths: a block that has no cores yet moves nothing.
  double weightNow(int64_t block) const {
    if (!sharing || isTogether)
      return weightOf(block);
    auto found = behind.find(block);
    return 1 + (found == behind.end() ? 0 : static_cast<double>(found->second.size()));
  }
  SiteTotal &totalOf(uint32_t site) { return totals[site - firstSite]; }
};

struct GroupClock {
  LaunchClock *launch = nullptr;
  std::unique_ptr<Group> group;
  std::vector<std::unique_ptr<CoreClock>> cores;
  uint32_t span = 0; ///< of its block
  int64_t bytes = 0, missed = 0;
  int32_t signals = 0; ///< number of signals on their way
  /// slots, by queue and core, not yet signalled
  std::map<std::pair<int32_t, int32_t>, int64_t> freed;
  struct Arrival {
    Cycles time = 0;
    Cycles queued = 0; ///< time that it waited at the hub
    uint32_t record = kNoRecord;
  };
  std::vector<Arrival> tiles, slots; ///< the last arrival of each queue
  std::vector<Arrival> events;       ///< the last signal of each cross-core event
  SignalHub hub;                     ///< the hub from this group's view, if iterations are skipped
  int64_t round = 0;                 ///< the iteration of its outermost loop for which `hub` is set
};

} // namespace ptl::rt::sim
