// The state of a timed run, which the functions of the `engine_*` files read and change; each of
// their headers has one subject. Only this folder may include it.
#pragma once

#include "runtime/graph/access_history.h"
#include "runtime/schedule/virtual_lanes.h"
#include "runtime/sim/time/clocks.h"

#include <queue>

namespace ptl::rt::sim {

enum class EventKind : uint8_t { Begin, End, Wake, Signal, Submitted, Dispatched, Released };

/// An event in time. Events of the same time are handled in the order in which they were pushed.
struct Event {
  Cycles time;
  uint64_t order;
  EventKind kind;
  uint8_t pipe = 0;
  QueueSignal signal{};
  uint32_t core = 0; ///< or the task, or the span of a block
  int32_t queue = 0;
  uint32_t record = kNoRecord;
  Cycles queued = 0; ///< of a signal: time that it waited at the hub
  int64_t times = 1; ///< number of slots of a signal
  bool operator>(const Event &other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

/// Private memory of a kernel, which its next launch reuses.
struct Workspace {
  uint32_t array = 0;
  std::unique_ptr<uint8_t[]> data;
};

/// The simulated chip.
struct Engine {
  Engine(const Machine &machine, const MachineCosts &costs, TimeOptions options);

  /// Schedules an event, and sets its order.
  void push(Event event) {
    event.order = order++;
    events.push(event);
  }
  /// Records the first reason why the run cannot continue; returns false.
  bool fail(std::string message);
  /// Does the same for an error in the launch of a group.
  bool fail(const GroupClock &clock);
  /// Stores an operation of a core, if records are requested, and returns the record's number.
  uint32_t addRecord(const CoreClock &clock, const Record &record);
  /// The number of a step among the sites of the timeline.
  uint32_t siteOf(const CoreClock &clock, const Step &step) const {
    return clock.firstSite + static_cast<uint32_t>(&step - clock.core->function().steps.data());
  }
  bool isLeftOut(uint32_t site) const { return site < left.size() && left[site]; }
  /// The number of core groups that execute a kernel concurrently.
  int64_t groupsFor(const Kernel &kernel) const;

  SecondLevel second;
  Timeline timeline; ///< what has happened so far
  TimeOptions options;

  // The chip:
  Machine machine;
  Chip chip;
  CostModel model;
  SharedRate l2, memory;
  SignalHub hub;
  std::vector<bool> left;                                        ///< sites that are skipped
  std::map<std::pair<const Kernel *, bool>, uint32_t> firstSite; ///< true: of its cube cores

  // The tasks, by number.
  std::vector<std::unique_ptr<LaunchClock>> launches;
  std::map<const void *, Repeats> repeats; ///< by place in the program
  size_t done = 0;                         ///< number of tasks that have ended
  size_t known = 0;                        ///< number of tasks whose paths to the end are known
  size_t firstOpen = 0;                    ///< all tasks before it have ended
  int64_t longest = 0;                     ///< longest path of a task to the end
  AccessHistory history;
  std::vector<Access> accesses; ///< of one task, in the form of the history
  std::vector<Axis> axes;       ///< of these
  Cycles orchestrator = 0;      ///< its time
  uint32_t awaited = kNoTask;   ///< the last task that it waited for
  Cycles awaitedAt = 0;
  std::vector<Cycles> schedulers; ///< time at which each becomes free
  std::optional<VirtualLanes> lanes;
  std::vector<std::vector<uint32_t>> coresOfLane; ///< one core each; by lane
  std::vector<uint32_t> launchOfLanes;            ///< by the lanes' number of a task
  std::vector<Dispatch> dispatches;               ///< by span of a block
  std::vector<uint32_t> lastOnCore;               ///< span of the last block on each core
  std::map<std::pair<const Kernel *, size_t>, std::vector<Workspace>> workspaces;

  // The events.
  Cycles now = 0;
  bool failed = false;
  std::map<uint32_t, std::unique_ptr<GroupClock>> groups; ///< by span of its block
  std::vector<CoreClock *> cores;                         ///< by number; null: its block has ended
  /// A block that is not simulated and moves its bytes.
  struct Moving {
    uint32_t transfers; ///< that have not ended
    Cycles whole;       ///< what all of it would take alone
  };
  std::map<uint32_t, Moving> moving; ///< by the block's span
  uint32_t actor = kNoRecord;        ///< the record of the operation that is signalling
  uint64_t order = 0;                ///< of the next event
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
};

} // namespace ptl::rt::sim
