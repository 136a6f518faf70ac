#include "runtime/graph/task_graph.h"
#include "runtime/schedule/random_graph.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace ptl::rt;
using namespace ptl::rt::test;

namespace {

bool conflict(const RandomTask &a, const RandomTask &b) {
  for (const RandomTask::Use &x : a.uses)
    for (const RandomTask::Use &y : b.uses)
      if (x.array == y.array && (x.mode == AccessMode::Write || y.mode == AccessMode::Write) &&
          !isEmpty(x.box) && !isEmpty(y.box) && overlaps(x.box, y.box))
        return true;
  return false;
}

} // namespace

TEST(TaskGraph, NoEdgeIsMissingAndNoneIsMadeUp) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomGraph random(seed, 80);
    TaskGraph graph = staticGraph(random);
    auto reaches = reachability(graph);
    for (TaskId a = 0; a < graph.size(); ++a) {
      for (TaskId b = a + 1; b < graph.size(); ++b)
        ASSERT_TRUE(reaches[a][b] || !conflict(*random.tasks[a], *random.tasks[b]))
            << "seed " << seed << ": " << a << " before " << b;
      for (TaskId b : graph.successors(a)) {
        ASSERT_TRUE(conflict(*random.tasks[a], *random.tasks[b])) << a << " " << b;
        // No edge stands beside a way of two edges.
        for (TaskId between : graph.successors(a)) {
          auto after = graph.successors(between);
          ASSERT_EQ(std::count(after.begin(), after.end(), b), 0)
              << a << " " << between << " " << b;
        }
      }
    }
  }
}

TEST(TaskGraph, ReadersOfATileWaitForItsWriterAlone) {
  GraphBuilder builder;
  StorageId matrix = builder.addStorage(2);
  for (int64_t i = 0; i < 64; ++i) {
    Axis tile[] = {{i / 8 * 16, 16, 1}, {i % 8 * 32, 32, 1}};
    Access access{matrix, AccessMode::Write, tile};
    builder.add({}, {&access, 1});
  }
  for (int64_t i = 0; i < 64; ++i) {
    Axis tile[] = {{i / 8 * 16, 16, 1}, {i % 8 * 32, 32, 1}};
    Access access{matrix, AccessMode::Read, tile};
    TaskId reader = builder.add({}, {&access, 1});
    ASSERT_EQ(builder.predecessors(reader).size(), 1u);
    EXPECT_EQ(builder.predecessors(reader)[0], TaskId(i));
  }
  Axis row[] = {{16, 16, 1}, {0, 256, 1}};
  Access access{matrix, AccessMode::Write, row};
  // The readers imply the writers.
  TaskId writer = builder.add({}, {&access, 1});
  ASSERT_EQ(builder.predecessors(writer).size(), 8u);
  EXPECT_EQ(builder.predecessors(writer)[0], 72u);
}

TEST(TaskGraph, TheLongestWayDecides) {
  GraphBuilder builder;
  TaskId first = builder.add({.cost = 2}, {});
  TaskId brief = builder.add({.cost = 1}, {}, {&first, 1});
  TaskId lengthy = builder.add({.cost = 9}, {}, {&first, 1});
  TaskId both[] = {brief, lengthy};
  builder.add({.cost = 4}, {}, both);
  TaskGraph graph = std::move(builder).finish();
  EXPECT_EQ(graph.criticalPath(), 15);
  ASSERT_EQ(graph.successors(first).size(), 2u);
  EXPECT_EQ(graph.successors(first)[1], lengthy);
  EXPECT_EQ(graph.edgeCount(), 4u);
}
