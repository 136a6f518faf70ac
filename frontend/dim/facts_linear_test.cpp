#include "frontend/dim/facts_linear.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace ptl {
namespace {

LinearSystem::Given row(std::initializer_list<int64_t> coefficients, int64_t constant) {
  LinearSystem::Given result;
  result.constant = constant;
  size_t column = 0;
  for (int64_t coefficient : coefficients)
    result.set(column++, coefficient);
  return result;
}

TEST(LinearSystem, namesTheRowsOfAContradiction) {
  LinearSystem system;
  system.give(row({1, -1}, 0));  // x >= y
  system.give(row({0, 1}, 5));   // y >= -5
  system.give(row({-1, 1}, -1)); // y > x
  ASSERT_TRUE(system.refute());
  EXPECT_EQ(*system.refute(), 0b101u);
}

TEST(LinearSystem, boundsAreIntegers) {
  LinearSystem system;
  system.give(row({-3, 0}, 10)); // 3x <= 10
  system.give(row({0, 1}, 0));
  EXPECT_EQ(system.greatest(0), 3);
  system.clear();
  system.giveEquation(row({1, -2}, 0)); // x == 2y
  system.give(row({0, -1}, 4));         // y <= 4
  EXPECT_EQ(system.greatest(0), 8);
  system.clear();
  system.give(row({1, 0}, 0));
  EXPECT_FALSE(system.greatest(0));
}

TEST(LinearSystem, whatOverflowsIsForgotten) {
  LinearSystem system;
  system.give(row({INT64_MAX, 1}, 0));
  system.give(row({-INT64_MAX + 1, 1}, INT64_MAX));
  system.give(row({0, -1}, -1));
  EXPECT_FALSE(system.refute());
}

TEST(LinearSystem, whatIsRefutedHasNoSolution) {
  std::mt19937 random(1);
  auto pick = [&](int lo, int hi) {
    return lo + static_cast<int>(random() % unsigned(hi - lo + 1));
  };
  LinearSystem system;
  int refuted = 0, solved = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<std::array<int, 4>> rows;
    for (int n = pick(2, 7); n > 0; --n)
      rows.push_back({pick(-2, 2), pick(-2, 2), pick(-2, 2), pick(-4, 2)});
    bool solvable = false;
    for (int i = 0; i < 21 * 21 * 21 && !solvable; ++i)
      solvable = std::all_of(rows.begin(), rows.end(), [&](const auto &r) {
        return r[0] * (i % 21 - 10) + r[1] * (i / 21 % 21 - 10) + r[2] * (i / 441 - 10) + r[3] >= 0;
      });
    system.clear();
    for (const auto &r : rows)
      system.give(row({r[0], r[1], r[2]}, r[3]));
    bool isRefuted = system.refute().has_value();
    EXPECT_FALSE(isRefuted && solvable);
    refuted += isRefuted;
    solved += solvable;
  }
  EXPECT_GT(refuted, 50);
  EXPECT_GT(solved, 50);
}

} // namespace
} // namespace ptl
