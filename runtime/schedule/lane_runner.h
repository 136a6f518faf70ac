#pragma once

#include "runtime/schedule/idle_gate.h"
#include "runtime/schedule/ready_queues.h"

namespace ptl::rt {

/// The progress of a task with several points: they are handed out in chunks, and the task is
/// complete when all have run.
struct WideState {
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> open{0}; ///< chunks that have not run
};

/// The part of the scheduler that runs in each thread: it takes a task, runs it, releases the tasks
/// that waited for it, and continues with the most urgent of these. `Graph` has the tasks:
/// TaskKind kindOf(TaskId); int levelOf(TaskId);
/// int64_t pointsOf(TaskId), grainOf(TaskId); WideState &wideOf(TaskId);
/// void run(TaskId, int64_t begin, int64_t end);
/// void release(LaneId, TaskId, F onReady);  // the task is complete
template <class Graph> class LaneRunner {
public:
  LaneRunner(Graph &graph, const Topology &topology, const SchedulePolicy &policy)
      : graph_(graph), queues_(topology, policy), alone_(topology.lanes.size() == 1) {}

  /// Adds a ready task. Called by the lane itself, or by any thread while no lane runs.
  void push(LaneId lane, TaskId task) {
    if (isWide(task)) {
      WideState &wide = graph_.wideOf(task);
      int64_t grain = graph_.grainOf(task);
      wide.next.store(0, std::memory_order_relaxed);
      wide.open.store((graph_.pointsOf(task) - 1) / grain + 1, std::memory_order_relaxed);
    }
    enqueue(lane, task);
  }

  /// Runs tasks until `isDone()`, which is checked when there is no task to run.
  template <class Done> void runUntil(LaneId lane, Done isDone) {
    while (true) {
      TaskId task = queues_.take(lane);
      if (task == kNoTask) {
        if (isDone())
          return;
        bool done = false;
        gate_.waitUntil([&] {
          task = queues_.take(lane);
          return task != kNoTask || (done = isDone());
        });
        if (done)
          return;
      }
      execute(lane, task);
    }
  }

  /// Runs one task, or one chunk, if there is any.
  bool runOne(LaneId lane) {
    TaskId task = queues_.take(lane);
    if (task != kNoTask)
      execute(lane, task);
    return task != kNoTask;
  }

  IdleGate &gate() { return gate_; }
  const ReadyQueues &queues() const { return queues_; }

private:
  bool isWide(TaskId task) { return graph_.pointsOf(task) > graph_.grainOf(task); }

  void enqueue(LaneId lane, TaskId task) {
    queues_.push(lane, task, graph_.kindOf(task), graph_.levelOf(task));
    if (!alone_)
      gate_.announce();
  }

  void execute(LaneId lane, TaskId task) {
    while (task != kNoTask) {
      if (!isWide(task))
        graph_.run(task, 0, graph_.pointsOf(task));
      else if (!runChunk(lane, task))
        return;
      task = complete(lane, task);
    }
  }

  /// Runs one chunk of a task, and returns true if it was the task's last. Only the lane that holds
  /// the task hands out its chunks; the rest is pushed back to the lane's queue before the chunk
  /// runs.
  bool runChunk(LaneId lane, TaskId task) {
    WideState &wide = graph_.wideOf(task);
    int64_t points = graph_.pointsOf(task), grain = graph_.grainOf(task);
    int64_t begin = wide.next.load(std::memory_order_relaxed);
    int64_t end = points - begin > grain ? begin + grain : points;
    wide.next.store(end, std::memory_order_relaxed);
    if (end < points)
      enqueue(lane, task);
    graph_.run(task, begin, end);
    return wide.open.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  TaskId complete(LaneId lane, TaskId task) {
    TaskId best = kNoTask;
    graph_.release(lane, task, [&](TaskId ready) {
      // A wide task goes to the queue, so that other lanes can participate at once.
      if (isWide(ready) || !queues_.accepts(lane, graph_.kindOf(ready)))
        return push(lane, ready);
      // The last one runs next, while its operands are in the cache. In a finished graph it is the
      // one with the longest path to the end.
      if (best != kNoTask)
        enqueue(lane, best);
      best = ready;
    });
    if (best != kNoTask && queues_.levels() > 1 &&
        queues_.hasHigher(lane, graph_.kindOf(best), graph_.levelOf(best))) {
      enqueue(lane, best);
      return kNoTask;
    }
    return best;
  }

  Graph &graph_;
  ReadyQueues queues_;
  IdleGate gate_;
  bool alone_;
};

} // namespace ptl::rt
