// Random graphs against sequential execution.
#include "runtime/schedule/path_submitter.h"
#include "runtime/schedule/random_graph.h"
#include "runtime/schedule/replay.h"

#include <gtest/gtest.h>

using namespace ptl::rt;
using namespace ptl::rt::test;

namespace {

ThreadPool &poolOf(int threads) {
  static ThreadPool two(2), eight(8), one(1);
  return threads == 1 ? one : threads == 2 ? two : eight;
}

void expectSame(const std::vector<RandomArray> &got, const std::vector<RandomArray> &wanted,
                const std::string &what) {
  for (size_t i = 0; i < wanted.size(); ++i)
    ASSERT_EQ(got[i].elements, wanted[i].elements) << what << ", array " << i;
}

/// A program that submits a random graph.
struct Submitter {
  const RandomGraph &random;
  TaskWindow &window;
  bool awaitsSome;

  static void call(void *self) {
    auto &[random, window, awaitsSome] = *static_cast<Submitter *>(self);
    std::vector<StorageId> ids;
    for (const RandomArray &array : random.arrays)
      ids.push_back(window.addStorage(array.extents.size()));
    for (auto &task : random.tasks) {
      auto accesses = random.accessesOf(*task, ids);
      TaskSpec spec = random.specOf(*task);
      const RandomTask *closure = task.get();
      spec.body = RandomGraph::boxedBody;
      spec.closure = &closure;
      window.submit(spec, sizeof(void *), accesses); // the closure is the pointer
      if (awaitsSome && task->number % 13 == 0)
        window.await(accesses.front());
    }
  }
};

} // namespace

TEST(Stress, ReplayedGraphsGiveWhatProgramOrderGives) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    RandomGraph random(seed, 10 + int(seed % 90));
    TaskGraph graph = staticGraph(random);
    int threads = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 2 : 8;
    Replay replay(graph, threads, {.levels = 1 + int(seed % 4), .seed = seed});
    auto wanted = random.runInOrder();
    for (int again = 0; again < 2; ++again) {
      auto memory = random.arrays;
      replay.run(poolOf(threads), &memory);
      expectSame(memory, wanted, "seed " + std::to_string(seed));
    }
  }
}

TEST(Stress, SubmittedTasksGiveWhatProgramOrderGives) {
  for (uint64_t seed = 1000; seed < 2000; ++seed) {
    RandomGraph random(seed, 10 + int(seed % 90));
    int threads = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 2 : 8;
    WindowLimits limits{.tasks = uint32_t(1 + seed % 40),
                        .edges = uint32_t(1 + seed % 60),
                        .deferAlways = seed % 2 == 0};
    TaskWindow window(threads, limits);
    auto memory = random.arrays;
    Submitter submission{random, window, seed % 5 == 0};
    window.run(poolOf(threads), Submitter::call, &submission, &memory);
    expectSame(memory, random.runInOrder(), "seed " + std::to_string(seed));
    if (!window.isInOrder()) {
      EXPECT_LE(window.peakTasks(), limits.tasks);
      EXPECT_LE(window.peakEdges(), limits.edges);
    }
  }
}

TEST(Stress, ManyTasksInLittleMemory) {
  struct State {
    TaskWindow window{2, {.tasks = 64, .edges = 96}};
    std::vector<uint64_t> cells = std::vector<uint64_t>(16);
  } state;
  constexpr uint64_t count = 100000;
  auto program = [](void *opaque) {
    auto &state = *static_cast<State *>(opaque);
    StorageId storage = state.window.addStorage(1);
    for (uint64_t i = 0; i < count; ++i) {
      Axis from{int64_t(i * 7 % 16), 1, 1}, to{int64_t(i % 16), 1, 1};
      Access accesses[] = {{storage, AccessMode::Read, {&from, 1}},
                           {storage, AccessMode::Write, {&to, 1}}};
      TaskSpec spec;
      spec.closure = &i;
      spec.body = [](void *arguments, const void *closure, int64_t, int64_t) {
        auto &cells = *static_cast<std::vector<uint64_t> *>(arguments);
        uint64_t i = *static_cast<const uint64_t *>(closure);
        cells[i % 16] = cells[i % 16] * 31 + cells[i * 7 % 16] + i;
      };
      state.window.submit(spec, sizeof(i), accesses);
    }
  };
  state.window.run(poolOf(2), program, &state, &state.cells);
  std::vector<uint64_t> wanted(16);
  for (uint64_t i = 0; i < count; ++i)
    wanted[i % 16] = wanted[i % 16] * 31 + wanted[i * 7 % 16] + i;
  EXPECT_EQ(state.cells, wanted);
  EXPECT_LE(state.window.peakTasks(), 64u);
  EXPECT_LE(state.window.peakEdges(), 96u);
  // Two accesses per task, and lists are swept when they have doubled.
  EXPECT_LE(state.window.peakAccesses(), 64u * 2 * 2 + 64);
}

namespace {

/// A program whose runs differ: from a point on, each leaves out other tasks, or none.
struct Wandering {
  const RandomGraph &random;
  TaskWindow &window;
  PathTree *tree;
  uint64_t variant = 0;
  size_t followed = 0, submitted = 0;

  bool leavesOut(const RandomTask &task) const {
    return variant != 0 && task.number > random.tasks.size() / 2 && task.number % 3 == variant - 1;
  }
  static void call(void *opaque) {
    auto &self = *static_cast<Wandering *>(opaque);
    PathSubmitter submitter(self.window, self.tree);
    std::vector<StorageId> ids;
    for (const RandomArray &array : self.random.arrays)
      ids.push_back(submitter.addStorage(array.extents.size()));
    self.submitted = 0;
    for (auto &task : self.random.tasks) {
      if (self.leavesOut(*task))
        continue;
      auto accesses = self.random.accessesOf(*task, ids);
      TaskSpec spec = self.random.specOf(*task);
      spec.body = RandomGraph::boxedBody;
      auto fill = [&](char *closure) { new (closure) const RandomTask *(task.get()); };
      submitter.submit(spec, sizeof(RandomTask *), fill, accesses);
      ++self.submitted;
      if (task->number % 13 == 0)
        submitter.await(accesses.front());
    }
    self.followed = submitter.followed();
  }
};

} // namespace

TEST(Stress, RunsThatGoKnownWaysGiveWhatProgramOrderGives) {
  for (uint64_t seed = 2000; seed < 2300; ++seed) {
    RandomGraph random(seed, 10 + int(seed % 90));
    int threads = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 2 : 8;
    TaskWindow window(threads, {.tasks = uint32_t(1 + seed % 40),
                                .edges = uint32_t(1 + seed % 60),
                                .deferAlways = seed % 2 == 0});
    PathTree tree;
    for (uint64_t variant : {0, 0, 0, 1, 2, 1, 2, 3, 3, 0}) {
      Wandering run{random, window, &tree, variant};
      auto memory = random.arrays;
      window.run(poolOf(threads), Wandering::call, &run, &memory);
      auto isLeftOut = [&](const RandomTask &task) { return run.leavesOut(task); };
      expectSame(memory, random.runInOrder(isLeftOut),
                 "seed " + std::to_string(seed) + ", variant " + std::to_string(variant));
    }
    Wandering again{random, window, &tree};
    auto memory = random.arrays;
    window.run(poolOf(threads), Wandering::call, &again, &memory);
    EXPECT_EQ(again.followed, again.submitted) << "seed " << seed;
  }
}
