// The state of a run in time, which the functions of the `engine_*` files read and change; each of
// their headers has one theme. Only this folder includes it.
#pragma once

#include "runtime/graph/access_history.h"
#include "runtime/schedule/virtual_lanes.h"
#include "runtime/sim/time/clocks.h"

#include <queue>

namespace ptl::rt::sim {

enum class EventKind : uint8_t { Begin, End, Wake, Signal, Submitted, Dispatched, Released };

/// Something that happens at a time. Events of the same time happen in the order in which they were
/// pushed.
struct Event {
  Cycles time;
  uint64_t order;
  EventKind kind;
  uint8_t pipe = 0;
  QueueSignal signal{};
  uint32_t core = 0; ///< or the task, or the span of a block
  int32_t queue = 0;
  uint32_t record = kNoRecord;
  Cycles queued = 0; ///< of a signal, before it was handed on
  int64_t times = 1; ///< slots that a signal is about
  bool operator>(const Event &other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

/// Memory that a kernel uses for itself, and that its next launch takes over.
struct Workspace {
  uint32_t array = 0;
  std::unique_ptr<uint8_t[]> data;
};

/// A chip at work.
struct Engine {
  Engine(const Machine &machine, const MachineCosts &costs, TimeOptions options);

  /// Schedules an event; its order is set here.
  void push(Event event) {
    event.order = order++;
    events.push(event);
  }
  /// Keeps the first reason why the run cannot go on; returns false.
  bool fail(std::string message);
  /// Does the same for an error in the launch of a group.
  bool fail(const GroupClock &clock);
  /// Stores what a core did, if records are wanted, and returns the record's number.
  uint32_t addRecord(const CoreClock &clock, const Record &record);
  /// The number of a step among the sites of the timeline.
  uint32_t siteOf(const CoreClock &clock, const Step &step) const {
    return clock.firstSite + static_cast<uint32_t>(&step - clock.core->function().steps.data());
  }
  bool isLeftOut(uint32_t site) const { return site < left.size() && left[site]; }
  /// The number of core groups that work on a kernel at the same time.
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
  std::vector<bool> left;                                        ///< sites that are left out
  std::map<std::pair<const Kernel *, bool>, uint32_t> firstSite; ///< true: of its cube cores

  // The tasks, by number:
  std::vector<std::unique_ptr<LaunchClock>> launches;
  std::map<const void *, Repeats> repeats; ///< by place of the program
  size_t done = 0;                         ///< that have ended
  size_t known = 0;                        ///< tasks whose ways to the end are known
  size_t firstOpen = 0;                    ///< those before it have ended
  int64_t longest = 0;                     ///< way of a task to the end
  AccessHistory history;
  std::vector<Access> accesses; ///< of one task, as the history wants them
  std::vector<Axis> axes;       ///< of these
  Cycles orchestrator = 0;      ///< its time
  uint32_t awaited = kNoTask;   ///< the task that it went on after last
  Cycles awaitedAt = 0;
  std::vector<Cycles> schedulers; ///< when each is free
  std::optional<VirtualLanes> lanes;
  std::vector<std::vector<uint32_t>> coresOfLane; ///< one each; by lane
  std::vector<uint32_t> launchOfLanes;            ///< by the lanes' number of a task
  std::vector<Dispatch> dispatches;               ///< by span of a block
  std::vector<uint32_t> lastOnCore;               ///< span of a block
  std::map<std::pair<const Kernel *, size_t>, std::vector<Workspace>> workspaces;

  // The events:
  Cycles now = 0;
  bool failed = false;
  std::map<uint32_t, std::unique_ptr<GroupClock>> groups; ///< by span of its block
  std::vector<CoreClock *> cores;                         ///< by number; null: has ended
  std::map<uint32_t, uint32_t> moving; ///< transfers of a repeated block that go on, by its span
  uint32_t actor = kNoRecord;          ///< the record of who signals at present
  uint64_t order = 0;                  ///< of the next event
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
};

} // namespace ptl::rt::sim
