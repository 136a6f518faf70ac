#include "runtime/schedule/replay.h"

#include <algorithm>
#include <utility>

namespace ptl::rt {

Replay::Replay(const TaskGraph &graph, int threads, const SchedulePolicy &policy)
    : graph_(graph), nodes_(graph.size() + size_t(1)),
      waiting_(std::make_unique<std::atomic<int32_t>[]>(graph.size())),
      lanes_(static_cast<size_t>(std::max(1, threads))),
      runner_(*this, Topology::threads(threads), policy) {
  int64_t longest = graph.criticalPath();
  uint32_t wide = 0;
  for (TaskId id = 0; id < graph.size(); ++id) {
    const TaskGraph::Task &task = graph.task(id);
    // Only tasks of several pieces need a state for handing these out.
    bool isWide = task.points > task.grain;
    int level = rt::levelOf(task.costToEnd, longest, std::max(1, policy.levels));
    auto predecessors = static_cast<int32_t>(task.predecessors);
    nodes_[id] = {task.body,    task.closure,
                  task.points,  task.firstSuccessor,
                  predecessors, isWide ? wide++ : narrow,
                  task.kind,    static_cast<uint8_t>(level)};
    waiting_[id].store(predecessors, std::memory_order_relaxed);
  }
  // One node more gives each task the end of its list of successors.
  nodes_[graph.size()].firstSuccessor = static_cast<uint32_t>(graph.edgeCount());
  wide_ = std::make_unique<WideState[]>(wide);
}

void Replay::run(TaskId task, int64_t begin, int64_t end) {
  const Node &node = nodes_[task];
  // After a failure tasks complete without running, so that the counters come out right.
  if (node.body && !(stop_ && stop_->load(std::memory_order_relaxed) != 0))
    node.body(arguments_, node.closure, begin, end);
}

template <class OnReady> void Replay::release(LaneId lane, TaskId task, OnReady onReady) {
  ++lanes_[lane].completed;
  const TaskId *successors = graph_.successors(0).data();
  uint32_t end = nodes_[task + 1].firstSuccessor;
  bool alone = lanes_.size() == 1;
  for (uint32_t i = nodes_[task].firstSuccessor; i < end; ++i) {
    TaskId successor = successors[i];
    std::atomic<int32_t> &waiting = waiting_[successor];
    int32_t left;
    // Atomic arithmetic is slow, and one lane needs none.
    if (alone) {
      left = waiting.load(std::memory_order_relaxed) - 1;
      waiting.store(left, std::memory_order_relaxed);
    } else {
      left = waiting.fetch_sub(1, std::memory_order_acq_rel) - 1;
    }
    if (left != 0)
      continue;
    // The counter is back at its start, so the next run needs no reset.
    waiting.store(nodes_[successor].predecessors, std::memory_order_relaxed);
    onReady(successor);
  }
}

void Replay::runLane(LaneId lane) {
  runner_.runUntil(lane, [this, lane] {
    // Lanes count for themselves and add up only when they have nothing to do, because a shared
    // counter would be contended at every task.
    TaskId own = std::exchange(lanes_[lane].completed, 0);
    TaskId all = completed_.load(std::memory_order_acquire);
    if (own != 0) {
      all = completed_.fetch_add(own, std::memory_order_acq_rel) + own;
      if (all == graph_.size())
        runner_.gate().wakeAll();
    }
    return all == graph_.size();
  });
}

void Replay::run(ThreadPool &pool, void *arguments, const std::atomic<int32_t> *stop) {
  arguments_ = arguments;
  stop_ = stop;
  completed_.store(0, std::memory_order_relaxed);
  // Dealt so that each lane begins with the longest ways.
  auto count = static_cast<LaneId>(lanes_.size());
  auto roots = graph_.roots();
  for (size_t i = roots.size(); i-- > 0;)
    runner_.push(static_cast<LaneId>(i % count), roots[i]);
  if (count == 1)
    return runLane(0);
  auto body = [](void *self, int64_t begin, int64_t end) {
    for (int64_t lane = begin; lane < end; ++lane)
      static_cast<Replay *>(self)->runLane(static_cast<LaneId>(lane));
  };
  pool.run(body, this, count, 1, nullptr);
}

} // namespace ptl::rt
