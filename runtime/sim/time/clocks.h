// The state of tasks, core groups, cores and pipes while they run in time.
#pragma once

#include "runtime/sim/group.h"
#include "runtime/sim/time/repeats.h"
#include "runtime/sim/time/shared.h"
#include "runtime/sim/time/sharing.h"
#include "runtime/sim/time/timer.h"

#include <map>

namespace ptl::rt::sim {

/// The state of a pipe of a core.
struct PipeClock {
  Cycles free = 0;     ///< the last operation ended
  Cycles settled = 0;  ///< and what waits for it may begin
  bool filled = false; ///< the last operation was an instruction
  bool works = false;  ///< it has had one
  bool isHeld = false; ///< it waits for `standing`
  Cycles ownEnd = 0;   ///< of the operation that runs, if nothing is in its way
  Cycles tail = 0;
  int pending = 0;  ///< transfers that it waits for
  int standing = 0; ///< transfers of rounds that others stood for, which go on
  uint32_t site = 0;
  Cycles started = 0;
  uint32_t record = kNoRecord, last = kNoRecord;
  int64_t bytes = 0, missed = 0; ///< that the operation which runs moves

  /// The times at which the rounds of the running loops began; `first` is the number of entries of
  /// `done` at that moment.
  struct Round {
    Cycles time;
    size_t first;
  };
  struct Done {
    uint32_t site;
    SiteTotal total;
    int64_t bytes, missed;
  };
  std::vector<std::vector<Round>> loops;
  std::vector<Done> done;
};

struct GroupClock;

struct CoreClock {
  Core *core = nullptr;
  GroupClock *group = nullptr;
  uint32_t number = 0;    ///< in the list of the engine
  uint32_t firstLane = 0; ///< of its pipes
  uint32_t firstSite = 0; ///< of its function
  PipeClock pipes[kNumPipes];
  /// By pipe, when its head may begin at the earliest, as far as that is known: an event will look
  /// at it then. `never` while an operation runs. It is kept apart from the pipes' own states, since
  /// cores are asked far more often than their pipes move.
  Cycles notBefore[kNumPipes] = {};
  Cycles scalar = 0;
  bool begun = false;
  bool scalarWaits = false;
  uint32_t scalarRecord = kNoRecord;
  Cycles scalarBusy = 0;                        ///< of its time, that it did not wait
  std::vector<std::vector<Cycles>> scalarLoops; ///< of it, before each round
  /// Pipes that have reached a place where rounds are left out, while others have not.
  struct Standing {
    uint32_t open = 0;    ///< bits of those
    Cycles window = 0;    ///< the longest
    Cycles at[kNumPipes]; ///< they came
    bool isLate[kNumPipes];
  };
  std::map<int64_t, Standing> standing; ///< by run of a loop
  Cycles flagTime[kNumPipes][kNumPipes][16] = {};
  uint32_t flagRecord[kNumPipes][kNumPipes][16];
};

/// A task from when it is submitted.
struct LaunchClock {
  TaskRequest request;
  uint32_t number = 0; ///< of its span
  std::vector<uint32_t> successors;
  int64_t cost = 0, costToEnd = 0; ///< elements that it touches; on the longest way to the end
  uint32_t waiting = 0;            ///< tasks, and for having been submitted itself
  bool done = false;
  Cycles dispatched = 0; ///< a scheduler had handed it out

  // The members below are set when a kernel has been handed out.
  Options options;
  std::optional<LaunchState> state;
  std::optional<Sharing> sharing; ///< where some core groups stand for all
  int64_t working = 0;            ///< core groups that move anything; 0: all may
  std::vector<std::unique_ptr<uint8_t[]>> storage;
  bool begun = false;     ///< it has cores
  int64_t open = 0;       ///< blocks that have not ended
  uint32_t firstSite = 0; ///< of its functions
  std::vector<SiteTotal> totals;
  std::vector<bool> used; ///< by lane, where launches may be repeated
  int64_t bytes = 0, missed = 0;
  std::vector<ByteRange> touched; ///< of each of its arrays
  Repeats::Turn turn;
  std::vector<LaunchResult::Block> ran; ///< by block, where launches may be repeated
  /// For each block that represents others, the spans of those that wait for its end; and how long
  /// it took, once it has ended.
  std::map<int64_t, std::vector<uint32_t>> behind;
  std::map<int64_t, Cycles> took;

  double weightOf(int64_t block) const { return sharing ? sharing->weightOf(block) : 1; }
  SiteTotal &totalOf(uint32_t site) { return totals[site - firstSite]; }
};

struct GroupClock {
  LaunchClock *launch = nullptr;
  std::unique_ptr<Group> group;
  std::vector<std::unique_ptr<CoreClock>> cores;
  uint32_t span = 0;                                    ///< of its block
  int32_t signals = 0;                                  ///< on their way
  std::map<std::pair<int32_t, int32_t>, int64_t> freed; ///< slots, by queue and core, not yet told
  struct Arrival {
    Cycles time = 0;
    Cycles queued = 0; ///< before it was handed on
    uint32_t record = kNoRecord;
  };
  std::vector<Arrival> tiles, slots; ///< the last of each queue
  std::vector<Arrival> events;       ///< the last signal of each event between cores
  SignalHub hub;                     ///< as it sees it, where rounds are left out
  int64_t round = 0;                 ///< of its outermost loop, for which that is
};

} // namespace ptl::rt::sim
