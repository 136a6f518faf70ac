// Random task graphs for tests: tasks that read and write random boxes of small arrays, such that
// the results reveal the order of execution.
#pragma once

#include "runtime/graph/task_graph.h"

#include <atomic>
#include <memory>
#include <random>
#include <thread>

namespace ptl::rt::test {

struct RandomArray {
  std::vector<int64_t> extents;
  std::vector<uint64_t> elements;
};

struct RandomTask {
  struct Use {
    size_t array;
    AccessMode mode;
    std::vector<Axis> box;
  };
  std::vector<Use> uses;
  uint64_t number = 0;
  int pauses = 0;
  bool yields = false;
  int64_t points = 1;
};

class RandomGraph {
public:
  RandomGraph(uint64_t seed, int taskCount) : random_(seed) {
    for (int i = pick(1, 4); i > 0; --i) {
      RandomArray array;
      size_t count = 1;
      for (int rank = pick(0, 3); rank > 0; --rank) {
        array.extents.push_back(pick(1, 9));
        count *= size_t(array.extents.back());
      }
      for (size_t k = 0; k < count; ++k)
        array.elements.push_back(random_());
      arrays.push_back(array);
    }
    for (int i = 0; i < taskCount; ++i)
      tasks.push_back(std::make_unique<RandomTask>(makeTask(uint64_t(i) + 1)));
  }

  /// Does sequentially what the tasks do, except for the tasks that `isLeftOut`.
  template <class IsLeftOut> std::vector<RandomArray> runInOrder(IsLeftOut isLeftOut) const {
    std::vector<RandomArray> memory = arrays;
    for (auto &task : tasks)
      if (!isLeftOut(*task))
        execute(memory, *task);
    return memory;
  }
  std::vector<RandomArray> runInOrder() const {
    return runInOrder([](const RandomTask &) { return false; });
  }

  /// The body of the tasks: `arguments` are the arrays, `closure` is a RandomTask.
  static void body(void *arguments, const void *closure, int64_t /*begin*/, int64_t end) {
    auto &task = *static_cast<const RandomTask *>(closure);
    for (int i = 0; i < task.pauses; ++i)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    if (task.yields)
      std::this_thread::yield();
    // Wide tasks do all their work in their last chunk; the others only take time.
    if (end == task.points)
      execute(*static_cast<std::vector<RandomArray> *>(arguments), task);
  }
  static void boxedBody(void *arguments, const void *closure, int64_t begin, int64_t end) {
    body(arguments, *static_cast<const RandomTask *const *>(closure), begin, end);
  }

  std::vector<Access> accessesOf(const RandomTask &task, const std::vector<StorageId> &ids) const {
    std::vector<Access> accesses;
    for (const RandomTask::Use &use : task.uses)
      accesses.push_back({ids[use.array], use.mode, use.box});
    return accesses;
  }

  TaskSpec specOf(const RandomTask &task) const {
    TaskSpec spec{.body = body, .closure = &task, .points = task.points};
    spec.cost = 1 + task.pauses;
    spec.kind = static_cast<TaskKind>(task.number % kTaskKinds);
    return spec;
  }

  std::vector<RandomArray> arrays;
  std::vector<std::unique_ptr<RandomTask>> tasks;

private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  RandomTask makeTask(uint64_t number) {
    RandomTask task;
    task.number = number;
    task.pauses = pick(0, 3) == 0 ? pick(0, 2000) : 0;
    task.yields = pick(0, 60) == 0;
    task.points = pick(0, 7) == 0 ? pick(2, 6) : 1;
    for (int i = pick(1, 3); i > 0; --i) {
      RandomTask::Use use;
      use.array = size_t(pick(0, int(arrays.size()) - 1));
      use.mode = pick(0, 1) ? AccessMode::Write : AccessMode::Read;
      bool tiled = pick(0, 1);
      for (int64_t extent : arrays[use.array].extents) {
        Axis axis;
        if (tiled) { // Tiles of two, or all
          axis.start = pick(0, int(extent) - 1) / 2 * 2;
          axis.count = std::min<int64_t>(2, extent - axis.start);
        } else {
          axis.step = pick(1, 3);
          axis.start = pick(0, int(extent) - 1);
          axis.count = pick(0, int((extent - 1 - axis.start) / axis.step) + 1);
        }
        use.box.push_back(axis);
      }
      task.uses.push_back(use);
    }
    return task;
  }

  template <class F> static void forEach(const RandomArray &array, Box box, F visit) {
    std::vector<int64_t> at(box.size(), 0);
    if (isEmpty(box))
      return;
    while (true) {
      int64_t offset = 0;
      for (size_t i = 0; i < box.size(); ++i)
        offset = offset * array.extents[i] + box[i].start + at[i] * box[i].step;
      visit(size_t(offset));
      size_t axis = box.size();
      while (axis > 0 && ++at[axis - 1] == box[axis - 1].count)
        at[--axis] = 0;
      if (axis == 0)
        return;
    }
  }

  static void execute(std::vector<RandomArray> &memory, const RandomTask &task) {
    uint64_t seen = task.number;
    for (const RandomTask::Use &use : task.uses)
      forEach(memory[use.array], use.box, [&](size_t i) {
        seen = (seen ^ memory[use.array].elements[i]) * 0x9e3779b97f4a7c15u;
        seen ^= seen >> 29;
      });
    for (const RandomTask::Use &use : task.uses)
      if (use.mode == AccessMode::Write)
        forEach(memory[use.array], use.box,
                [&](size_t i) { memory[use.array].elements[i] += (seen += 0x632be59bd9b4e019u); });
  }

  std::mt19937_64 random_;
};

/// For each task, the tasks that are reachable from it.
inline std::vector<std::vector<bool>> reachability(const TaskGraph &graph) {
  std::vector<std::vector<bool>> reaches(graph.size(), std::vector<bool>(graph.size()));
  for (TaskId id = graph.size(); id-- > 0;)
    for (TaskId next : graph.successors(id)) {
      reaches[id][next] = true;
      for (TaskId far = next + 1; far < graph.size(); ++far)
        if (reaches[next][far])
          reaches[id][far] = true;
    }
  return reaches;
}

/// All tasks as one graph that is linked before it runs.
inline TaskGraph staticGraph(const RandomGraph &random) {
  GraphBuilder builder;
  std::vector<StorageId> ids;
  for (const RandomArray &array : random.arrays)
    ids.push_back(builder.addStorage(array.extents.size()));
  for (auto &task : random.tasks)
    builder.add(random.specOf(*task), random.accessesOf(*task, ids));
  return std::move(builder).finish();
}

} // namespace ptl::rt::test
