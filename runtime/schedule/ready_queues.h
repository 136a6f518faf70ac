#pragma once

#include "runtime/schedule/task_deque.h"
#include "runtime/schedule/topology.h"

#include <memory>

namespace ptl::rt {

/// How a scheduler chooses among ready tasks.
struct SchedulePolicy {
  /// The number of priority levels. Ready tasks of a higher level go first; within a level the
  /// order is chosen for locality.
  int levels = 4;
  /// A lane takes the oldest of its own tasks rather than the newest.
  bool oldestFirst = false;
  /// The seed for choosing a victim among lanes that are equally near.
  uint64_t seed = 0;
};

/// Holds the ready tasks: one queue per lane, kind of task and level. A lane serves its own queues
/// and steals from the nearest lane that has something.
class ReadyQueues {
public:
  ReadyQueues(const Topology &topology, const SchedulePolicy &policy);

  /// Called by the lane itself, or by any thread while no lane runs.
  void push(LaneId lane, TaskId task, TaskKind kind, int level);
  /// Takes a ready task that the lane accepts; `kNoTask` if it finds none. Called by the lane itself.
  TaskId take(LaneId lane);
  /// The same, of one kind only.
  TaskId take(LaneId lane, TaskKind kind);

  bool accepts(LaneId lane, TaskKind kind) const {
    return lanes_[lane].accepted & (1u << queueOf_[static_cast<size_t>(kind)]);
  }
  /// Whether one of the lane's own queues has a task of a higher level.
  bool hasHigher(LaneId lane, TaskKind kind, int level) const;
  int levels() const { return levels_; }

private:
  struct LaneQueues {
    std::vector<LaneId> victims;
    uint32_t accepted = 0;               ///< bits of kinds of queues
    std::unique_ptr<TaskDeque[]> queues; ///< by kind, then level
  };
  TaskId takeOwn(LaneQueues &lane, uint32_t queue);
  TaskId stealFrom(LaneQueues &victim, uint32_t queue);
  TaskId takeQueue(LaneId lane, uint32_t queue);

  std::vector<LaneQueues> lanes_;
  uint32_t queueOf_[kTaskKinds]; ///< threads run all kinds from one queue
  uint32_t queueCount_ = 1;
  int levels_;
  bool oldestFirst_;
};

/// The level, 0 … levels - 1, of a task, from the cost of its longest path to the end.
inline int levelOf(int64_t costToEnd, int64_t criticalPath, int levels) {
  if (levels <= 1 || criticalPath <= 0)
    return 0;
  return static_cast<int>(static_cast<__int128>(costToEnd) * (levels - 1) / criticalPath);
}

} // namespace ptl::rt
