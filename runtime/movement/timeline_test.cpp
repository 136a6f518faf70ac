// Movements in time through ports and links: closed forms where nothing meets, and what meets shares.
#include "runtime/movement/predict.h"
#include "runtime/movement/timeline.h"

#include <gtest/gtest.h>

#include <numeric>

namespace ptl::movement {
namespace {

constexpr double us = 1e-6, GBs = 1e9;

Fabric oneLevel(Topology topology, uint32_t count, double linkRate, double portRate) {
  Fabric fabric;
  fabric.levels.push_back({.name = "chip",
                           .count = count,
                           .topology = topology,
                           .latency = 1 * us,
                           .linkRate = linkRate,
                           .portRate = portRate});
  return fabric;
}

/// Hosts of four chips. The level between hosts has ports of its own, or goes through those of the chips.
Fabric twoLevels(uint32_t hosts, bool throughInner) {
  Fabric fabric = oneLevel(Topology::Switch, 4, 0, 100 * GBs);
  fabric.levels.push_back({.name = "host",
                           .count = hosts,
                           .throughInner = throughInner,
                           .latency = 3 * us,
                           .portRate = 50 * GBs});
  return fabric;
}

TimedMove moveOn(const StepList &list, std::vector<uint32_t> chips) {
  return {&list, std::move(chips), 1, 0};
}

std::vector<uint32_t> firstChips(uint32_t count) {
  std::vector<uint32_t> chips(count);
  std::iota(chips.begin(), chips.end(), 0);
  return chips;
}

double secondsOf(const Fabric &fabric, const StepList &list, std::vector<uint32_t> chips) {
  return timelineOf(fabric, moveOn(list, std::move(chips))).end;
}

Request gatherOf(int64_t bytes, uint32_t ranks) { return {Kind::AllGather, {bytes}, ranks, 0}; }

StepList sendOf(int64_t bytes, uint32_t ranks, uint32_t from, uint32_t to) {
  Request request{Kind::Boxes, {bytes}, ranks};
  request.sources.assign(ranks, {{0, 0}});
  request.results.assign(ranks, {{0, 0}});
  request.sources[from] = request.results[to] = {{0, bytes}};
  return makeSteps(request, Algorithm::Pairwise);
}

TEST(Timeline, OneMessageTakesItsLatencyAndItsBytes) {
  Fabric fabric = twoLevels(3, false);
  EXPECT_NEAR(secondsOf(fabric, sendOf(100'000, 2, 0, 1), {0, 1}), 1 * us + 1 * us, 1e-12);
  EXPECT_NEAR(secondsOf(fabric, sendOf(100'000, 2, 0, 1), {0, 7}), 3 * us + 2 * us, 1e-12);
  // The slowest port on the way counts, not their sum.
  EXPECT_NEAR(secondsOf(twoLevels(3, true), sendOf(100'000, 2, 0, 1), {0, 7}), 5 * us, 1e-12);
}

TEST(Timeline, RingAndMeshFollowTheFormulas) {
  constexpr uint32_t n = 8;
  constexpr int64_t part = 1'000'000;
  Request request = gatherOf(n * part, n);
  Fabric ports = oneLevel(Topology::Switch, n, 0, 100 * GBs);
  double perPart = part / (100 * GBs);
  EXPECT_NEAR(secondsOf(ports, makeSteps(request, Algorithm::Ring), firstChips(n)),
              (n - 1) * (1 * us + perPart), 1e-9);
  // One port for all: a mesh saves the latencies, not the bytes.
  EXPECT_NEAR(secondsOf(ports, makeSteps(request, Algorithm::Mesh), firstChips(n)),
              1 * us + (n - 1) * perPart, 1e-9);
  // Links of their own: it saves both.
  Fabric links = oneLevel(Topology::Mesh, n, 100 * GBs, 0);
  EXPECT_NEAR(secondsOf(links, makeSteps(request, Algorithm::Mesh), firstChips(n)),
              1 * us + perPart, 1e-9);
  EXPECT_NEAR(secondsOf(links, makeSteps(request, Algorithm::Ring), firstChips(n)),
              (n - 1) * (1 * us + perPart), 1e-9);
}

TEST(Timeline, LinksOfARingArePassedOneByOne) {
  Fabric ring = oneLevel(Topology::Ring, 6, 100 * GBs, 0);
  EXPECT_NEAR(secondsOf(ring, sendOf(100'000, 2, 0, 1), {0, 3}), 3 * us + 1 * us, 1e-12);
  EXPECT_NEAR(secondsOf(ring, sendOf(100'000, 2, 0, 1), {0, 4}), 2 * us + 1 * us, 1e-12);
  // Two messages that meet in a link take turns.
  StepList a = sendOf(100'000, 2, 0, 1), b = sendOf(100'000, 2, 0, 1);
  std::vector<TimedMove> moves = {moveOn(a, {0, 2}), moveOn(b, {1, 2})};
  std::vector<ChipTask> tasks;
  for (size_t move = 0; move < 2; ++move)
    for (uint32_t rank = 0; rank < 2; ++rank)
      tasks.push_back({moves[move].chips[rank], 0, move, rank, {}});
  EXPECT_NEAR(timelineOn(ring, moves, tasks).end, 1 * us + 1 * us + 1 * us, 1e-12);
}

TEST(Timeline, LinksAtTheSamePlaceLeadRoundTheCorner) {
  Fabric fabric = oneLevel(Topology::Mesh, 4, 100 * GBs, 0);
  fabric.levels.push_back({.name = "host",
                           .count = 4,
                           .topology = Topology::Mesh,
                           .isSamePlace = true,
                           .latency = 3 * us,
                           .linkRate = 50 * GBs});
  StepList list = sendOf(100'000, 2, 0, 1);
  EXPECT_NEAR(secondsOf(fabric, list, {1, 5}), 3 * us + 2 * us, 1e-12);
  EXPECT_NEAR(secondsOf(fabric, list, {1, 6}), 1 * us + 3 * us + 2 * us, 1e-12);
}

TEST(Timeline, MovementsBesideEachOtherShareWhatTheyBothUse) {
  Request request = gatherOf(4'000'000, 4);
  StepList list = makeSteps(request, Algorithm::Mesh);
  auto both = [&](const Fabric &fabric) {
    std::vector<TimedMove> moves = {moveOn(list, {0, 1, 2, 3}), moveOn(list, {0, 4, 8, 12})};
    std::vector<ChipTask> tasks;
    for (size_t move = 0; move < 2; ++move)
      for (uint32_t rank = 0; rank < 4; ++rank)
        tasks.push_back({moves[move].chips[rank], 0, move, rank, {}});
    return timelineOn(fabric, moves, tasks).end;
  };
  double inside = 1 * us + 3'000'000 / (100 * GBs), outside = 3 * us + 3'000'000 / (50 * GBs);
  EXPECT_NEAR(both(twoLevels(4, false)), std::max(inside, outside), 1e-9);
  // Chip 0 has one port for both.
  EXPECT_GT(both(twoLevels(4, true)), outside + 0.9 * 3'000'000 / (100 * GBs));
}

TEST(Timeline, ManySendersLoseWhereTheyMeet) {
  Request request{Kind::AllToAll, {8, 8'000'000}, 8, 0, 1};
  Fabric fabric = oneLevel(Topology::Switch, 8, 0, 100 * GBs);
  StepList pairwise = makeSteps(request, Algorithm::Pairwise),
           mesh = makeSteps(request, Algorithm::Mesh);
  double before = secondsOf(fabric, mesh, firstChips(8));
  double rounds = secondsOf(fabric, pairwise, firstChips(8));
  EXPECT_LE(before, rounds);
  fabric.contended = 0.8;
  EXPECT_NEAR(secondsOf(fabric, pairwise, firstChips(8)), rounds, 1e-9);
}

TEST(Timeline, ComputingGoesOnBesideMovements) {
  Fabric fabric = oneLevel(Topology::Switch, 2, 0, 100 * GBs);
  StepList list = sendOf(100'000, 2, 0, 1);
  std::vector<TimedMove> moves = {moveOn(list, {0, 1})};
  // Chip 0 computes 5 us, sends (2 us) and computes 4 us beside that; chip 1 computes 1 us with what came.
  std::vector<ChipTask> tasks = {{0, 5 * us, std::nullopt, 0, {}},
                                 {0, 0, 0, 0, {0}},
                                 {1, 0, 0, 1, {}},
                                 {0, 4 * us, std::nullopt, 0, {0}},
                                 {1, 1 * us, std::nullopt, 0, {2}}};
  FabricTimeline timeline = timelineOn(fabric, moves, tasks, {true});
  EXPECT_NEAR(timeline.tasks[4].begin, 7 * us, 1e-12);
  EXPECT_NEAR(timeline.tasks[3].end, 9 * us, 1e-12);
  EXPECT_NEAR(timeline.end, 9 * us, 1e-12);
  ASSERT_EQ(timeline.carried.size(), 2u);
  EXPECT_EQ(timeline.carriers[timeline.carried[0].carrier].name,
            "port out of chip 0 between the chips");
  // One at a time on a chip.
  std::vector<ChipTask> two = {{0, 5 * us, std::nullopt, 0, {}}, {0, 5 * us, std::nullopt, 0, {}}};
  EXPECT_NEAR(timelineOn(fabric, {}, two).end, 10 * us, 1e-12);
}

/// Every algorithm of every request ends, and sends as many messages as its list has.
TEST(Timeline, AllListsEnd) {
  for (Kind kind :
       {Kind::AllReduce, Kind::ReduceScatter, Kind::AllGather, Kind::AllToAll, Kind::Broadcast})
    for (uint32_t ranks : {1u, 2u, 3u, 7u, 8u, 12u}) {
      Request request{kind, {13, 5}, ranks, 0, kind == Kind::AllToAll ? 1u : 0u, 0};
      for (Algorithm algorithm : algorithmsFor(request)) {
        StepList list = makeSteps(request, algorithm);
        FabricTimeline timeline = timelineOf(twoLevels(3, true), moveOn(list, firstChips(ranks)));
        EXPECT_EQ(static_cast<int64_t>(timeline.messages), messagesOf(list));
        EXPECT_EQ(timeline.end > 0, ranks > 1) << algorithmName(algorithm);
      }
    }
}

TEST(Timeline, TheFastestAlgorithmDependsOnTheFabric) {
  Request large{Kind::AllReduce, {1 << 24}, 8, 0, 0, 0}, small{Kind::AllReduce, {64}, 8, 0, 0, 0};
  Fabric links = oneLevel(Topology::Mesh, 8, 28 * GBs, 0);
  ChosenSteps chosen = chooseSteps(large, 2, links, firstChips(8), 10 * us);
  EXPECT_EQ(chosen.list.algorithm, Algorithm::Mesh);
  EXPECT_TRUE(chosen.limit.starts_with("link from chip ")) << chosen.limit;
  EXPECT_GT(chosen.limitShare, 0.5);
  EXPECT_LT(chooseSteps(small, 2, links, firstChips(8), 10 * us).seconds, 20 * us);
}

/// Where the way between hosts is slow, few bytes go there; tiny pieces go in few messages.
TEST(Timeline, LevelsDecideTheAlgorithm) {
  Fabric hosts = oneLevel(Topology::Switch, 4, 0, 100 * GBs);
  hosts.levels.push_back({.name = "host", .count = 4, .latency = 5 * us, .portRate = 2 * GBs});
  Request sum{Kind::AllReduce, {1 << 20}, 16}, gather{Kind::AllGather, {1 << 20}, 16};
  for (const Request &request : {sum, gather}) {
    ChosenSteps chosen = chooseSteps(request, 4, hosts, firstChips(16), 0);
    EXPECT_EQ(chosen.list.algorithm, Algorithm::TwoLevel);
    EXPECT_EQ(chosen.list.request.together, 4u);
    EXPECT_TRUE(chosen.limit.ends_with("between the hosts")) << chosen.limit;
  }
  // Each message costs its sender much, so 4 that pass things on beat 15.
  Fabric slow = oneLevel(Topology::Switch, 16, 0, 100 * GBs);
  slow.perMessage = 2 * us;
  EXPECT_EQ(
      chooseSteps({Kind::AllToAll, {16, 16}, 16, 0, 1}, 4, slow, firstChips(16), 0).list.algorithm,
      Algorithm::Bruck);
  EXPECT_NE(chooseSteps({Kind::AllToAll, {4096, 4096}, 16, 0, 1}, 4, slow, firstChips(16), 0)
                .list.algorithm,
            Algorithm::Bruck);
  EXPECT_EQ(
      chooseSteps({Kind::Broadcast, {1 << 22}, 16}, 4, slow, firstChips(16), 0).list.algorithm,
      Algorithm::Chain);
  EXPECT_NE(chooseSteps({Kind::Broadcast, {64}, 16}, 4, slow, firstChips(16), 0).list.algorithm,
            Algorithm::Chain);
}

ChipTask computing(double seconds, std::vector<uint32_t> after, bool yields = false) {
  ChipTask task{0, seconds, std::nullopt, 0, std::move(after)};
  task.yields = yields;
  return task;
}

/// It lasts as a multiple of what lay between two ends, and occupies nothing.
TEST(Timeline, APauseIsAsLongAsOthersTook) {
  ChipTask pause{0, 0, std::nullopt, 0, {1}};
  pause.pause = Pause{0, 1, 7};
  std::vector<ChipTask> tasks = {computing(2 * us, {}), computing(3 * us, {0}), pause,
                                 computing(4 * us, {1}), computing(1 * us, {2})};
  FabricTimeline timeline = timelineOn(twoLevels(1, false), {}, tasks);
  EXPECT_NEAR(timeline.tasks[2].begin, 5 * us, 1e-12);
  EXPECT_NEAR(timeline.tasks[2].end, 26 * us, 1e-12);
  EXPECT_NEAR(timeline.tasks[3].begin, 5 * us, 1e-12);
  EXPECT_NEAR(timeline.end, 27 * us, 1e-12);
}

/// What yields is computed in the gaps that others leave, and ends when all of it has been computed.
TEST(Timeline, WhatYieldsIsInterrupted) {
  ChipTask pause{0, 0, std::nullopt, 0, {3}};
  pause.pause = Pause{2, 3, 2};
  std::vector<ChipTask> tasks = {computing(10 * us, {}, true),
                                 computing(5 * us, {}, true),
                                 computing(2 * us, {}),
                                 computing(1 * us, {2}),
                                 pause,
                                 computing(4 * us, {4}),
                                 computing(1 * us, {0})};
  FabricTimeline timeline = timelineOn(twoLevels(1, false), {}, tasks);
  EXPECT_NEAR(timeline.tasks[3].end, 3 * us, 1e-12);
  EXPECT_NEAR(timeline.tasks[5].begin, 5 * us, 1e-12); // After 2 us of the first.
  EXPECT_NEAR(timeline.tasks[0].end, 17 * us, 1e-12);
  EXPECT_NEAR(timeline.tasks[6].end, 18 * us, 1e-12);
  EXPECT_NEAR(timeline.tasks[1].end, 23 * us, 1e-12);
}

} // namespace
} // namespace ptl::movement
