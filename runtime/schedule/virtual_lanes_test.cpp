#include "runtime/schedule/random_graph.h"
#include "runtime/schedule/virtual_lanes.h"

#include <gtest/gtest.h>
#include <map>

using namespace ptl::rt;
using namespace ptl::rt::test;

namespace {

PieceTime fixed(VirtualTime time) {
  return [time](const Dispatch &, VirtualTime) { return time; };
}

} // namespace

TEST(VirtualLanes, EveryPieceRunsOnceOnLanesOfItsKindAfterItsPredecessors) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomGraph random(seed, 60);
    TaskGraph graph = staticGraph(random);
    Topology chip = Topology::chip(3, 2, 1, 2);
    auto memory = random.arrays;
    PieceTime run = [&](const Dispatch &piece, VirtualTime) {
      const TaskGraph::Task &task = graph.task(piece.task);
      return 1.0 + double((piece.task * 7 + uint64_t(piece.begin)) % 5) + (task.points > 1);
    };
    LaneTrace trace = simulateLanes(graph, chip, run, {2, 0.5, 0.25, 0.1}, {.seed = seed});
    std::map<LaneId, VirtualTime> laneFree;
    std::vector<VirtualTime> endOf(graph.size(), 0);
    std::vector<int64_t> points(graph.size(), 0);
    for (const LaneEvent &event : trace.events) {
      TaskKind kind = graph.task(event.dispatch.task).kind;
      ASSERT_TRUE(chip.accepts(event.dispatch.lane, kind));
      ASSERT_EQ(event.dispatch.lanes.size(), kind == TaskKind::Mixed ? 3u : 1u);
      for (LaneId lane : event.dispatch.lanes) {
        ASSERT_GE(event.begin, laneFree[lane]);
        laneFree[lane] = event.end;
      }
      VirtualTime &end = endOf[event.dispatch.task];
      end = std::max(end, event.end);
      points[event.dispatch.task] += event.dispatch.end - event.dispatch.begin;
    }
    for (const LaneEvent &event : trace.events)
      for (TaskId after : graph.successors(event.dispatch.task))
        for (const LaneEvent &later : trace.events)
          ASSERT_TRUE(later.dispatch.task != after || later.begin >= endOf[event.dispatch.task]);
    for (TaskId task = 0; task < graph.size(); ++task)
      ASSERT_EQ(points[task], graph.task(task).points);
    // The order of the beginnings, executed, gives what program order gives.
    for (const LaneEvent &event : trace.events) {
      const TaskGraph::Task &task = graph.task(event.dispatch.task);
      task.body(&memory, task.closure, event.dispatch.begin, event.dispatch.end);
    }
    auto wanted = random.runInOrder();
    for (size_t i = 0; i < wanted.size(); ++i)
      ASSERT_EQ(memory[i].elements, wanted[i].elements) << "seed " << seed;
  }
}

TEST(VirtualLanes, TheSameSeedGivesTheSameTrace) {
  RandomGraph random(7, 100);
  TaskGraph graph = staticGraph(random);
  auto lanesOf = [&](uint64_t seed) {
    std::vector<std::pair<TaskId, LaneId>> order;
    for (const LaneEvent &event :
         simulateLanes(graph, Topology::chip(4, 2, 1), fixed(3), {}, {.seed = seed}).events)
      order.push_back({event.dispatch.task, event.dispatch.lane});
    return order;
  };
  EXPECT_EQ(lanesOf(5), lanesOf(5));
  EXPECT_NE(lanesOf(5), lanesOf(6));
}

TEST(VirtualLanes, PointsOfATaskSpreadOverAllLanes) {
  GraphBuilder builder;
  builder.add({.kind = TaskKind::Aiv, .points = 48, .grain = 1}, {});
  TaskGraph graph = std::move(builder).finish();
  EXPECT_EQ(simulateLanes(graph, Topology::chip(6, 2), fixed(10)).makespan, 40);
}

TEST(VirtualLanes, MixedTasksAreNotStarvedByVectorWork) {
  GraphBuilder builder;
  builder.add({.kind = TaskKind::Aiv, .points = 1000, .grain = 1}, {});
  TaskId mixed = builder.add({.kind = TaskKind::Mixed}, {});
  TaskGraph graph = std::move(builder).finish();
  LaneTrace trace =
      simulateLanes(graph, Topology::chip(1, 2), [&](const Dispatch &piece, VirtualTime) {
        return piece.task == mixed ? 1.0 : 10.0 + double(piece.begin % 2);
      });
  for (const LaneEvent &event : trace.events)
    EXPECT_TRUE(event.dispatch.task != mixed || event.begin < 50);
}

TEST(VirtualLanes, TheLongestWayGoesFirst) {
  GraphBuilder builder;
  std::vector<TaskId> brief;
  for (int i = 0; i < 20; ++i)
    brief.push_back(builder.add({.kind = TaskKind::Aiv, .cost = 1}, {}));
  TaskId head = builder.add({.kind = TaskKind::Aiv, .cost = 1}, {});
  TaskId last = head;
  for (int i = 0; i < 10; ++i)
    last = builder.add({.kind = TaskKind::Aiv, .cost = 1}, {}, {&last, 1});
  TaskGraph graph = std::move(builder).finish();
  // 31 units of work on 2 lanes, of which 11 in a chain.
  EXPECT_EQ(simulateLanes(graph, Topology::chip(1, 2), fixed(1), {}, {.levels = 8}).makespan, 16);
}

TEST(VirtualLanes, ASlowDispatcherIsTheLimit) {
  GraphBuilder builder;
  builder.add({.kind = TaskKind::Aic, .points = 100, .grain = 1}, {});
  TaskGraph graph = std::move(builder).finish();
  LaneTrace one = simulateLanes(graph, Topology::chip(24, 2), fixed(1), {1, 5, 0, 0});
  LaneTrace four = simulateLanes(graph, Topology::chip(24, 2), fixed(1), {4, 5, 0, 0});
  EXPECT_EQ(one.makespan, 501);
  EXPECT_EQ(four.makespan, 126);
}
