#include "runtime/sim/time/repeats.h"

#include <gtest/gtest.h>

namespace ptl::rt::sim {
namespace repeats_test {

LaunchResult taking(std::initializer_list<Cycles> blocks) {
  LaunchResult result;
  for (Cycles took : blocks)
    result.blocks.push_back({took, true});
  return result;
}

/// Launches whose only block takes so long, by their number; those that were run.
template <typename Length>
std::vector<int64_t> run(Repeats &repeats, int64_t count, Length length) {
  std::vector<int64_t> ran;
  for (int64_t i = 0; i < count; ++i) {
    Repeats::Turn turn = repeats.next();
    if (turn.like)
      continue;
    ran.push_back(i);
    repeats.note(turn, taking({length(i)}));
  }
  return ran;
}

TEST(Repeats, TwoInARowStandForOthers) {
  Repeats repeats;
  auto ran = run(repeats, 100, [](int64_t i) { return i == 0 ? 900.0 : 500.0; });
  EXPECT_EQ(ran, (std::vector<int64_t>{0, 1, 2, 6, 7, 21, 22, 66, 67}));
}

TEST(Repeats, WhatDiffersIsRun) {
  Repeats repeats;
  auto ran = run(repeats, 50, [](int64_t i) { return i % 2 ? 100.0 : 200.0; });
  EXPECT_EQ(ran.size(), 50u);
}

TEST(Repeats, WhatBeganToDifferIsRunAgain) {
  Repeats repeats;
  auto length = [](int64_t i) { return i < 10 ? 100.0 : 300.0; };
  run(repeats, 30, length);
  Repeats::Turn turn = repeats.next();
  ASSERT_TRUE(turn.like);
  EXPECT_EQ(turn.like->sum(), 300);
}

TEST(Repeats, BlocksWithoutWorkDoNotCount) {
  LaunchResult result = taking({5, 7});
  result.blocks.push_back({1000, false});
  EXPECT_EQ(result.sum(), 12);
}

TEST(Repeats, AsManyBlocks) {
  Repeats repeats;
  repeats.note(repeats.next(), taking({100}));
  repeats.note(repeats.next(), taking({50, 50}));
  EXPECT_FALSE(repeats.next().like);
}

TEST(Repeats, WhatLaterOnesTouchGoesOnAsBefore) {
  Repeats repeats;
  for (int64_t i = 0; i < 2; ++i) {
    LaunchResult result = taking({100});
    result.touched = {{40 * i, 40 * i + 10}, {7, 9}};
    repeats.note(repeats.next(), std::move(result));
  }
  Repeats::Turn turn = repeats.next();
  ASSERT_TRUE(turn.like);
  EXPECT_EQ(turn.like->touchedAt(0, turn.number).begin, 80);
  EXPECT_EQ(turn.like->touchedAt(0, turn.number).end, 90);
  EXPECT_EQ(turn.like->touchedAt(1, turn.number).begin, 7);
}

} // namespace repeats_test
} // namespace ptl::rt::sim
