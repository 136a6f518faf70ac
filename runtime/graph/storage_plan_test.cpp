#include "runtime/graph/task_graph.h"
#include "runtime/schedule/random_graph.h"

#include <gtest/gtest.h>
#include <random>

using namespace ptl::rt;
using namespace ptl::rt::test;

namespace {

TaskId use(GraphBuilder &graph, std::vector<std::pair<StorageId, AccessMode>> storages) {
  std::vector<Access> accesses;
  for (auto [storage, mode] : storages)
    accesses.push_back({storage, mode, {}});
  return graph.add({}, accesses);
}

constexpr AccessMode reads = AccessMode::Read, writes = AccessMode::Write;

} // namespace

TEST(StoragePlan, AChainNeedsTwoArrays) {
  GraphBuilder graph;
  StorageId before = graph.addIntermediate(0, 1000);
  use(graph, {{before, writes}});
  for (int i = 0; i < 20; ++i) {
    StorageId next = graph.addIntermediate(0, 1000);
    use(graph, {{before, reads}, {next, writes}});
    before = next;
  }
  StoragePlan plan = graph.planStorage();
  EXPECT_EQ(plan.bytes, 2 * 1024);
  EXPECT_EQ(plan.unshared, 21 * 1024);
  EXPECT_EQ(plan.leastLive, 2 * 1024);
  EXPECT_EQ(plan.edgesAdded, 0u);
}

TEST(StoragePlan, IndependentTasksShareOnlyUnderALimit) {
  auto build = [](GraphBuilder &graph) {
    for (int i = 0; i < 8; ++i) {
      StorageId own = graph.addIntermediate(0, 64);
      use(graph, {{own, writes}});
      use(graph, {{own, reads}});
    }
  };
  GraphBuilder wide, narrow;
  build(wide);
  build(narrow);
  StoragePlan free = wide.planStorage();
  EXPECT_EQ(free.bytes, 8 * 64);
  EXPECT_EQ(free.edgesAdded, 0u);
  StoragePlan tight = narrow.planStorage({.limit = 2 * 64});
  EXPECT_EQ(tight.bytes, 2 * 64);
  EXPECT_GT(tight.edgesAdded, 0u);
}

TEST(StoragePlan, RoundsOfALoopDoNotTakeMoreAndMore) {
  GraphBuilder graph;
  StorageId state = graph.addStorage(0);
  for (int i = 0; i < 200; ++i) {
    // The next round waits for the first reader, but nobody for the second one.
    StorageId made = graph.addIntermediate(0, 64);
    use(graph, {{state, reads}, {made, writes}});
    use(graph, {{made, reads}, {state, writes}});
    use(graph, {{made, reads}, {graph.addStorage(0), writes}});
  }
  StoragePlan plan = graph.planStorage({.nearby = 4 * 64, .apart = 24});
  EXPECT_EQ(plan.unshared, 200 * 64);
  EXPECT_LE(plan.bytes, (24 / 3 + 2) * 64);
  EXPECT_GT(plan.edgesAdded, 0u);
}

TEST(StoragePlan, WhatSharesBytesIsInOrder) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    auto pick = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    GraphBuilder graph;
    std::vector<StorageId> storages;
    std::vector<std::vector<TaskId>> users;
    for (int i = 0; i < 60; ++i) {
      std::vector<std::pair<StorageId, AccessMode>> uses;
      storages.push_back(graph.addIntermediate(0, pick(1, 4) * 64));
      users.emplace_back();
      uses.push_back({storages.back(), writes});
      users.back().push_back(TaskId(i));
      for (int k = pick(0, 2); k > 0 && i > 0; --k) {
        auto other = size_t(pick(std::max(0, i - 6), i - 1));
        uses.push_back({storages[other], reads});
        users[other].push_back(TaskId(i));
      }
      use(graph, uses);
    }
    StorageRoom room;
    if (seed % 2)
      room.limit = 12 * 64;
    if (seed % 3)
      room.nearby = 8 * 64, room.apart = TaskId(seed % 7);
    StoragePlan plan = graph.planStorage(room);
    TaskGraph finished = std::move(graph).finish();
    auto reaches = reachability(finished);
    EXPECT_LE(plan.leastLive, plan.bytes);
    for (const StoragePlan::Place &a : plan.places)
      for (const StoragePlan::Place &b : plan.places) {
        bool share = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
        if (a.storage >= b.storage || !share)
          continue;
        for (TaskId x : users[a.storage])
          for (TaskId y : users[b.storage])
            ASSERT_TRUE(reaches[x][y]) << "seed " << seed << ": " << x << " before " << y;
      }
  }
}
