#pragma once

#include "runtime/graph/access_history.h"

#include <vector>

namespace ptl::rt {

/// A finished graph, linked for execution: per task its successors, the number of tasks that it
/// waits for, and the cost of the longest way from its start to the end. Edges go from smaller to
/// larger task numbers. It is not changed by being executed, except for the counters that a run
/// owns.
class TaskGraph {
public:
  struct Task {
    TaskBody body = nullptr;
    const void *closure = nullptr;
    int64_t points = 1;
    int64_t grain = 1;
    int64_t cost = 1;
    int64_t costToEnd = 0;
    uint32_t firstSuccessor = 0; ///< up to the next task's
    uint32_t predecessors = 0;
    TaskKind kind = TaskKind::Host;
  };

  TaskId size() const { return tasks_.empty() ? 0 : static_cast<TaskId>(tasks_.size() - 1); }
  const Task &task(TaskId id) const { return tasks_[id]; }
  /// The tasks that wait for this one, in the order in which they should start: those with the
  /// longest path to the end come last.
  std::span<const TaskId> successors(TaskId id) const {
    return {successors_.data() + tasks_[id].firstSuccessor,
            tasks_[id + 1].firstSuccessor - tasks_[id].firstSuccessor};
  }
  std::span<const TaskId> roots() const { return roots_; }
  size_t edgeCount() const { return successors_.size(); }
  /// The cost of the longest chain: no number of lanes finishes sooner.
  int64_t criticalPath() const;

private:
  friend class GraphBuilder;
  std::vector<Task> tasks_; ///< and one behind the last
  std::vector<TaskId> successors_, roots_;
};

/// Where the intermediate arrays of a graph lie in one block of memory.
struct StoragePlan {
  struct Place {
    StorageId storage;
    int64_t offset;
    int64_t bytes;
  };
  std::vector<Place> places;
  int64_t bytes = 0;     ///< of the block: what any execution needs
  int64_t unshared = 0;  ///< without any reuse
  int64_t leastLive = 0; ///< what execution in program order has live at once
  uint32_t edgesAdded = 0;
};

/// When intermediate arrays share memory although the graph does not order their tasks, so that
/// edges have to.
struct StorageRoom {
  int64_t limit = INT64_MAX; ///< bytes of the block beyond which each free place is taken
  /// Bytes beyond which a place is taken whose last task comes this many tasks before in program order.
  int64_t nearby = INT64_MAX;
  TaskId apart = 0;
};

/// Takes tasks in program order and makes a graph of them.
class GraphBuilder {
public:
  /// An array from outside; `rank` is that of all boxes.
  StorageId addStorage(size_t rank) { return history_.addStorage(rank); }
  /// An intermediate array of the graph itself, for `planStorage` to place.
  StorageId addIntermediate(size_t rank, int64_t bytes);

  /// Adds a task that waits for the tasks that its accesses require, and for those in `after`.
  TaskId add(const TaskSpec &spec, std::span<const Access> accesses,
             std::span<const TaskId> after = {});

  /// Finds the tasks that would have to complete before `access` could be done now by code that is
  /// no task. The answer is valid until the next call.
  std::span<const TaskId> conflicts(const Access &access);

  /// Gives each intermediate a place in one block, for the time from its first to its last use. An
  /// intermediate reuses memory freely where the graph orders the tasks already; where `room` says
  /// so it also reuses memory that is free in program order, and edges are added that enforce this
  /// order.
  StoragePlan planStorage(const StorageRoom &room = {});

  /// Tasks that another one must wait for, so far.
  std::span<const TaskId> predecessors(TaskId task) const { return predecessors_[task]; }
  TaskId size() const { return static_cast<TaskId>(specs_.size()); }

  TaskGraph finish() &&;

private:
  struct Intermediate {
    StorageId storage;
    int64_t bytes;
    std::vector<TaskId> users; ///< ascending
  };
  friend class StoragePlanner;
  void prune(std::vector<TaskId> &predecessors);

  AccessHistory history_;
  std::vector<TaskSpec> specs_;
  std::vector<std::vector<TaskId>> predecessors_;
  std::vector<Intermediate> intermediates_;
  std::vector<uint32_t> intermediateOf_; ///< by storage; ~0 for others
  std::vector<TaskRef> found_;
  std::vector<TaskId> implied_, conflicts_;
};

} // namespace ptl::rt
