#include "runtime/sim/pace.h"

#include <gtest/gtest.h>

using namespace ptl::rt::sim;

namespace pace_test {

constexpr size_t kLoads = 0, kComputes = 1;

/// A loop on two pipes; how long their rounds take.
LoopRun runOf(std::vector<double> loads, std::vector<double> computes) {
  LoopRun run;
  run.pipes = 1u << kLoads | 1u << kComputes;
  run.round = static_cast<int64_t>(loads.size());
  auto add = [&](size_t pipe, const std::vector<double> &rounds) {
    double time = 100;
    run.passed[pipe].push_back({time, true});
    for (double round : rounds)
      run.passed[pipe].push_back({time += round, true});
  };
  add(kLoads, loads);
  add(kComputes, computes);
  return run;
}

std::optional<Pace> paceOf(const LoopRun &run, PaceQuestion question = {1, 4, 4, 0.01}) {
  const LoopRun *runs[] = {&run};
  return findPace(runs, question);
}

TEST(SimPace, RoundsThatAreEqualHaveOne) {
  std::optional<Pace> pace = paceOf(runOf({10, 10, 10, 10, 10}, {10, 10, 10, 10, 10}));
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->window, 1);
  EXPECT_DOUBLE_EQ(pace->cycles, 10);
  EXPECT_EQ(pace->settled, 0);
}

TEST(SimPace, RoundsThatTakeTurnsAreOneWindow) {
  std::vector<double> turns{10, 30, 10, 30, 10, 30, 10, 30};
  std::optional<Pace> pace = paceOf(runOf(turns, turns));
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->window, 2);
  EXPECT_DOUBLE_EQ(pace->cycles, 40);
}

TEST(SimPace, WindowsArePeriods) {
  std::vector<double> rounds(24, 10.0);
  std::optional<Pace> pace = paceOf(runOf(rounds, rounds), {3, 4, 4, 0.01});
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->window, 3);
  EXPECT_DOUBLE_EQ(pace->cycles, 30);
}

TEST(SimPace, WhoFillsBuffersSaysNothing) {
  // Loads are ahead until their buffers are full; then they wait for who computes.
  std::vector<double> computes(12, 20.0);
  std::vector<double> loads{5, 5, 5, 5, 20, 20, 20, 20, 20, 20, 20, 20};
  EXPECT_FALSE(paceOf(runOf({5, 5, 5, 5}, {20, 20, 20, 20})));
  std::optional<Pace> pace = paceOf(runOf(loads, computes));
  ASSERT_TRUE(pace);
  EXPECT_DOUBLE_EQ(pace->cycles, 20);
  EXPECT_EQ(pace->settled, 4);
}

TEST(SimPace, RoundsThatGrowHaveNone) {
  std::vector<double> rounds{10, 12, 14, 16, 18, 20, 22, 24};
  EXPECT_FALSE(paceOf(runOf(rounds, rounds)));
}

TEST(SimPace, WhoFollowsTheScalarUnitSaysNothing) {
  LoopRun run = runOf({1, 1, 1, 1, 1}, {20, 20, 20, 20, 20});
  for (LoopRun::Passage &passage : run.passed[kLoads])
    passage.isLate = false;
  std::optional<Pace> pace = paceOf(run);
  ASSERT_TRUE(pace);
  EXPECT_DOUBLE_EQ(pace->cycles, 20);
}

} // namespace pace_test
