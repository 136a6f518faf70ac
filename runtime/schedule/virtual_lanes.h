#pragma once

#include "runtime/graph/task_graph.h"
#include "runtime/schedule/ready_queues.h"

#include <functional>
#include <memory>
#include <optional>

namespace ptl::rt {

/// Nanoseconds of virtual time.
using VirtualTime = double;

/// A piece of a task on the lanes that run it: one, or for a mixed task the cube core and the
/// vector cores of a group.
struct Dispatch {
  TaskId task = kNoTask;
  int64_t begin = 0, end = 0; ///< points of the task's grid
  LaneId lane = 0;            ///< the first of `lanes`
  std::vector<LaneId> lanes;
};

/// The scheduler on lanes in virtual time. The caller requests dispatches, advances time by its own
/// model, and reports ends. The queues, the stealing and the priorities are the same code that
/// threads use. A task that was begun is handed out completely before another one of its level. The
/// scheduler is deterministic for a given seed.
class VirtualLanes {
public:
  VirtualLanes(const TaskGraph &graph, const Topology &topology, const SchedulePolicy &policy = {});
  /// Starts without tasks; the caller adds them.
  explicit VirtualLanes(const Topology &topology, const SchedulePolicy &policy = {});
  ~VirtualLanes();

  /// Adds a task without unfinished predecessors. If the policy is oldest first, it is queued
  /// behind the ready tasks of its level.
  TaskId add(TaskKind kind, int64_t points, int64_t grain, int level = 0);

  /// The next dispatch for lanes that are idle now; nothing if there is none for any idle lane. To
  /// be called until it returns nothing, at the start and after each `finish`.
  std::optional<Dispatch> next();
  /// Makes the lanes of the dispatch idle again, and returns the tasks that became ready; the span
  /// is valid until the next call.
  std::span<const TaskId> finish(const Dispatch &dispatch);

  bool isDone() const;       ///< all tasks so far are complete
  TaskId readyCount() const; ///< tasks that wait for lanes
  bool isIdle(LaneId lane) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The costs of a chip's own scheduler: each dispatch and each completion occupies one of its
/// threads.
struct DispatchCosts {
  int schedulers = 1;
  VirtualTime dispatch = 0; ///< of a scheduler, per piece
  VirtualTime complete = 0; ///< of a scheduler, per piece that ends
  VirtualTime start = 0;    ///< of the lane, before a piece runs
};

/// One piece as it ran.
struct LaneEvent {
  Dispatch dispatch;
  VirtualTime ready = 0;      ///< when its last predecessor completed
  VirtualTime dispatched = 0; ///< when a scheduler started to dispatch it
  VirtualTime begin = 0, end = 0;
};

struct LaneTrace {
  std::vector<LaneEvent> events; ///< by begin
  VirtualTime makespan = 0;
};

/// The duration of a dispatch; called when it is handed out.
using PieceTime = std::function<VirtualTime(const Dispatch &, VirtualTime begin)>;

/// Runs the graph on virtual lanes, with times from `timeOf`.
LaneTrace simulateLanes(const TaskGraph &graph, const Topology &topology, const PieceTime &timeOf,
                        const DispatchCosts &costs = {}, const SchedulePolicy &policy = {});

} // namespace ptl::rt
