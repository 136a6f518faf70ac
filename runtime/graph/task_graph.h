#pragma once

#include "runtime/graph/access_history.h"

#include <vector>

namespace ptl::rt {

/// A finished graph, linked for execution: for each task its successors, the number of its
/// predecessors, and the cost of the longest path from its start to the end. Edges go from smaller
/// to larger task numbers. Execution does not change it, except for the counters that a run owns.
class TaskGraph {
public:
  struct Task {
    TaskBody body = nullptr;
    const void *closure = nullptr;
    int64_t points = 1;
    int64_t grain = 1;
    int64_t cost = 1;
    int64_t costToEnd = 0;
    uint32_t firstSuccessor = 0; ///< up to that of the next task
    uint32_t predecessors = 0;
    TaskKind kind = TaskKind::Host;
  };

  TaskId size() const { return tasks_.empty() ? 0 : static_cast<TaskId>(tasks_.size() - 1); }
  const Task &task(TaskId id) const { return tasks_[id]; }
  /// The tasks that wait for this one, in the order in which they are released: those with the
  /// longest path to the end come last.
  std::span<const TaskId> successors(TaskId id) const {
    return {successors_.data() + tasks_[id].firstSuccessor,
            tasks_[id + 1].firstSuccessor - tasks_[id].firstSuccessor};
  }
  std::span<const TaskId> roots() const { return roots_; }
  size_t edgeCount() const { return successors_.size(); }
  /// The cost of the critical path: a lower bound of the makespan for any number of lanes.
  int64_t criticalPath() const;

private:
  friend class GraphBuilder;
  std::vector<Task> tasks_; ///< with a sentinel at the end
  std::vector<TaskId> successors_, roots_;
};

/// The addresses of a graph's intermediate arrays in one block of memory.
struct StoragePlan {
  struct Place {
    StorageId storage;
    int64_t offset;
    int64_t bytes;
  };
  std::vector<Place> places;
  int64_t bytes = 0;     ///< of the block, which suffices for any execution
  int64_t unshared = 0;  ///< without sharing of memory
  int64_t leastLive = 0; ///< peak of live bytes in program order
  uint32_t edgesAdded = 0;
};

/// When intermediate arrays share memory although the graph does not order their tasks, so that
/// edges must be added.
struct StorageRoom {
  int64_t limit = INT64_MAX; ///< size of the block beyond which every free place is reused
  /// The size beyond which a place is reused if its last task is at least this many tasks earlier
  /// in program order.
  int64_t nearby = INT64_MAX;
  TaskId apart = 0;
};

/// Builds a graph from tasks in program order.
class GraphBuilder {
public:
  /// Adds an array from outside; `rank` is that of all boxes.
  StorageId addStorage(size_t rank) { return history_.addStorage(rank); }
  /// Adds an intermediate array of the graph itself, which `planStorage` places.
  StorageId addIntermediate(size_t rank, int64_t bytes);

  /// Adds a task that waits for the predecessors by its accesses, and for those in `after`.
  TaskId add(const TaskSpec &spec, std::span<const Access> accesses,
             std::span<const TaskId> after = {});

  /// Finds the tasks that must complete before `access` could be made now by code that is not a
  /// task. The answer is valid until the next call.
  std::span<const TaskId> conflicts(const Access &access);

  /// Assigns each intermediate an address in one block, for its lifetime from first to last use. An
  /// intermediate always reuses memory if the graph orders the tasks already. As `room` allows, it
  /// also reuses memory that is free in program order, and edges are added that enforce this order.
  StoragePlan planStorage(const StorageRoom &room = {});

  /// The predecessors of a task so far.
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
