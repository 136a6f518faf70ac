#include "runtime/graph/task_graph.h"

#include <algorithm>

namespace ptl::rt {
namespace {

// The number of indirect predecessors that are examined to find edges implied by others.
constexpr size_t kPruneEffort = 64;

} // namespace

int64_t TaskGraph::criticalPath() const {
  int64_t longest = 0;
  for (TaskId root : roots_)
    longest = std::max(longest, tasks_[root].costToEnd);
  return longest;
}

StorageId GraphBuilder::addIntermediate(size_t rank, int64_t bytes) {
  StorageId storage = history_.addStorage(rank);
  // Storages are numbered by the history; most of them are no intermediates.
  intermediateOf_.resize(std::max<size_t>(intermediateOf_.size(), storage + 1), ~0u);
  intermediateOf_[storage] = static_cast<uint32_t>(intermediates_.size());
  intermediates_.push_back({storage, bytes, {}});
  return storage;
}

/// Drops tasks that a predecessor of a predecessor is; deeper implications stay, they cost little.
void GraphBuilder::prune(std::vector<TaskId> &predecessors) {
  // One predecessor implies no other.
  if (predecessors.size() < 2)
    return;
  std::sort(predecessors.begin(), predecessors.end());
  implied_.clear();
  // The latest predecessors imply the most, so the effort is spent on them first.
  for (size_t i = predecessors.size(); i-- > 1 && implied_.size() < kPruneEffort;)
    implied_.insert(implied_.end(), predecessors_[predecessors[i]].begin(),
                    predecessors_[predecessors[i]].end());
  std::sort(implied_.begin(), implied_.end());
  std::erase_if(predecessors, [&](TaskId task) {
    return std::binary_search(implied_.begin(), implied_.end(), task);
  });
}

TaskId GraphBuilder::add(const TaskSpec &spec, std::span<const Access> accesses,
                         std::span<const TaskId> after) {
  TaskId id = size();
  // A sequence number of 0 means no task, so they begin at 1.
  history_.record({id + uint64_t(1), id}, accesses, found_);
  std::vector<TaskId> predecessors(after.begin(), after.end());
  for (TaskRef task : found_)
    predecessors.push_back(task.slot);
  std::sort(predecessors.begin(), predecessors.end());
  predecessors.erase(std::unique(predecessors.begin(), predecessors.end()), predecessors.end());
  prune(predecessors);
  specs_.push_back(spec);
  predecessors_.push_back(std::move(predecessors));
  for (const Access &access : accesses) {
    if (access.storage >= intermediateOf_.size() || intermediateOf_[access.storage] == ~0u)
      continue;
    std::vector<TaskId> &users = intermediates_[intermediateOf_[access.storage]].users;
    // Tasks come in order, so a task that uses the array twice stands last.
    if (users.empty() || users.back() != id)
      users.push_back(id);
  }
  return id;
}

std::span<const TaskId> GraphBuilder::conflicts(const Access &access) {
  history_.conflicts(access, found_);
  conflicts_.clear();
  for (TaskRef task : found_)
    conflicts_.push_back(task.slot);
  prune(conflicts_);
  return conflicts_;
}

TaskGraph GraphBuilder::finish() && {
  TaskGraph graph;
  size_t count = specs_.size();
  graph.tasks_.resize(count + 1);
  for (size_t id = 0; id < count; ++id) {
    const TaskSpec &spec = specs_[id];
    TaskGraph::Task &task = graph.tasks_[id];
    task = {spec.body, spec.closure, spec.points, std::max<int64_t>(1, spec.grain),
            spec.cost, spec.cost,    0,           static_cast<uint32_t>(predecessors_[id].size()),
            spec.kind};
    // Successors of a task lie side by side in one array, and `firstSuccessor` of the next task is
    // their end. This is a counting sort: how many each has, then the sums, then the places.
    for (TaskId predecessor : predecessors_[id])
      ++graph.tasks_[predecessor + 1].firstSuccessor;
    if (predecessors_[id].empty())
      graph.roots_.push_back(static_cast<TaskId>(id));
  }
  for (size_t id = 0; id < count; ++id)
    graph.tasks_[id + 1].firstSuccessor += graph.tasks_[id].firstSuccessor;
  graph.successors_.resize(graph.tasks_[count].firstSuccessor);
  std::vector<uint32_t> next(count);
  for (size_t id = 0; id < count; ++id)
    next[id] = graph.tasks_[id].firstSuccessor;
  // Tasks are in program order, so all successors of a task have larger numbers, and their costs to
  // the end are known when it is its turn.
  for (size_t id = count; id-- > 0;) {
    auto self = static_cast<TaskId>(id);
    auto own = graph.successors(self);
    for (TaskId successor : own)
      graph.tasks_[id].costToEnd = std::max(
          graph.tasks_[id].costToEnd, graph.tasks_[id].cost + graph.tasks_[successor].costToEnd);
    // The successor with the longest way to the end comes last: a worker takes what it pushed last
    // first.
    std::sort(graph.successors_.begin() + graph.tasks_[id].firstSuccessor,
              graph.successors_.begin() + graph.tasks_[id + 1].firstSuccessor,
              [&](TaskId a, TaskId b) {
                int64_t x = graph.tasks_[a].costToEnd, y = graph.tasks_[b].costToEnd;
                return x != y ? x < y : a > b;
              });
    for (TaskId predecessor : predecessors_[id])
      graph.successors_[next[predecessor]++] = self;
  }
  std::stable_sort(graph.roots_.begin(), graph.roots_.end(), [&](TaskId a, TaskId b) {
    return graph.tasks_[a].costToEnd > graph.tasks_[b].costToEnd;
  });
  return graph;
}

} // namespace ptl::rt
