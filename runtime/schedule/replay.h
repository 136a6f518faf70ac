#pragma once

#include "runtime/graph/task_graph.h"
#include "runtime/schedule/lane_runner.h"
#include "runtime/schedule/pool.h"

namespace ptl::rt {

/// Executes a finished graph on threads, any number of times, each time with other arguments.
/// Nothing is allocated or reset between runs: a counter that has released its task is back at its
/// initial value.
class Replay {
public:
  /// The graph must outlive this object. `threads` is at most the pool's.
  Replay(const TaskGraph &graph, int threads, const SchedulePolicy &policy = {});

  /// Runs every task once. While `*stop` is not 0, tasks complete without being run. Not reentrant.
  void run(ThreadPool &pool, void *arguments, const std::atomic<int32_t> *stop = nullptr);

private:
  friend class LaneRunner<Replay>;
  struct Node {
    TaskBody body;
    const void *closure;
    int64_t points;
    uint32_t firstSuccessor;
    int32_t predecessors;
    uint32_t wide; ///< index of its progress, or `narrow`
    TaskKind kind;
    uint8_t level;
  };
  struct alignas(64) LaneCount {
    TaskId completed = 0;
  };
  static constexpr uint32_t narrow = ~0u;

  TaskKind kindOf(TaskId task) const { return nodes_[task].kind; }
  int levelOf(TaskId task) const { return nodes_[task].level; }
  int64_t pointsOf(TaskId task) const { return nodes_[task].points; }
  int64_t grainOf(TaskId task) const {
    return nodes_[task].wide == narrow ? INT64_MAX : graph_.task(task).grain;
  }
  WideState &wideOf(TaskId task) { return wide_[nodes_[task].wide]; }
  void run(TaskId task, int64_t begin, int64_t end);
  template <class OnReady> void release(LaneId lane, TaskId task, OnReady onReady);
  void runLane(LaneId lane);

  const TaskGraph &graph_;
  std::vector<Node> nodes_; ///< with a sentinel at the end
  std::unique_ptr<std::atomic<int32_t>[]> waiting_;
  std::unique_ptr<WideState[]> wide_;
  std::vector<LaneCount> lanes_;
  alignas(64) std::atomic<TaskId> completed_{0};
  void *arguments_ = nullptr;
  const std::atomic<int32_t> *stop_ = nullptr;
  LaneRunner<Replay> runner_;
};

} // namespace ptl::rt
