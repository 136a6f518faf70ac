#include "runtime/schedule/ready_queues.h"

#include <algorithm>
#include <random>

namespace ptl::rt {

ReadyQueues::ReadyQueues(const Topology &topology, const SchedulePolicy &policy)
    : levels_(std::max(1, policy.levels)), oldestFirst_(policy.oldestFirst) {
  bool onlyThreads =
      std::all_of(topology.lanes.begin(), topology.lanes.end(),
                  [](const Topology::Lane &lane) { return lane.kind == LaneKind::Thread; });
  queueCount_ = onlyThreads ? 1 : kTaskKinds;
  for (uint32_t kind = 0; kind < kTaskKinds; ++kind)
    queueOf_[kind] = onlyThreads ? 0 : kind;
  auto count = static_cast<LaneId>(topology.lanes.size());
  lanes_.resize(count);
  std::mt19937_64 random(policy.seed);
  for (LaneId id = 0; id < count; ++id) {
    LaneQueues &lane = lanes_[id];
    for (uint32_t kind = 0; kind < kTaskKinds; ++kind)
      if (topology.accepts(id, static_cast<TaskKind>(kind)))
        lane.accepted |= 1u << queueOf_[kind];
    lane.victims = topology.neighboursOf(id);
    if (policy.seed != 0)
      // Tests try other orders of stealing by the seed.
      std::shuffle(lane.victims.begin(), lane.victims.end(), random);
    lane.queues = std::make_unique<TaskDeque[]>(queueCount_ * static_cast<size_t>(levels_));
    for (size_t i = 0; i < queueCount_ * static_cast<size_t>(levels_); ++i)
      // Without thieves the queues need no ordering between threads.
      lane.queues[i].setAlone(count == 1);
  }
}

void ReadyQueues::push(LaneId lane, TaskId task, TaskKind kind, int level) {
  uint32_t queue = queueOf_[static_cast<size_t>(kind)];
  lanes_[lane].queues[queue * static_cast<uint32_t>(levels_) + static_cast<uint32_t>(level)].push(
      task);
}

TaskId ReadyQueues::takeOwn(LaneQueues &lane, uint32_t queue) {
  TaskDeque *first = &lane.queues[queue * static_cast<uint32_t>(levels_)];
  // The highest level is that of tasks on the longest way.
  for (int level = levels_; level-- > 0;) {
    if (oldestFirst_) {
      // Losing against a thief does not make the queue empty.
      while (!first[level].isEmpty())
        if (TaskId task = first[level].steal(); task != kNoTask)
          return task;
    } else if (TaskId task = first[level].pop(); task != kNoTask) {
      return task;
    }
  }
  return kNoTask;
}

TaskId ReadyQueues::stealFrom(LaneQueues &victim, uint32_t queue) {
  TaskDeque *first = &victim.queues[queue * static_cast<uint32_t>(levels_)];
  for (int level = levels_; level-- > 0;)
    if (!first[level].isEmpty())
      if (TaskId task = first[level].steal(); task != kNoTask)
        return task;
  return kNoTask;
}

TaskId ReadyQueues::takeQueue(LaneId id, uint32_t queue) {
  LaneQueues &lane = lanes_[id];
  if (TaskId task = takeOwn(lane, queue); task != kNoTask)
    return task;
  // Near lanes come first, since they share caches.
  for (LaneId victim : lane.victims)
    if (TaskId task = stealFrom(lanes_[victim], queue); task != kNoTask)
      return task;
  return kNoTask;
}

TaskId ReadyQueues::take(LaneId lane) {
  // Threads run every kind of task from one queue, so there is nothing to choose.
  if (queueCount_ == 1)
    return takeQueue(lane, 0);
  for (uint32_t queue = queueCount_; queue-- > 0;)
    if (lanes_[lane].accepted & (1u << queue))
      if (TaskId task = takeQueue(lane, queue); task != kNoTask)
        return task;
  return kNoTask;
}

TaskId ReadyQueues::take(LaneId lane, TaskKind kind) {
  return takeQueue(lane, queueOf_[static_cast<size_t>(kind)]);
}

bool ReadyQueues::hasHigher(LaneId id, TaskKind kind, int level) const {
  const LaneQueues &lane = lanes_[id];
  uint32_t queue = queueOf_[static_cast<size_t>(kind)];
  for (int higher = level + 1; higher < levels_; ++higher)
    if (!lane.queues[queue * static_cast<uint32_t>(levels_) + static_cast<uint32_t>(higher)]
             .isEmpty())
      return true;
  return false;
}

} // namespace ptl::rt
