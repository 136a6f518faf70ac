#include "runtime/graph/region.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace ptl::rt;

namespace {

std::set<int64_t> positions(const Axis &axis) {
  std::set<int64_t> all;
  for (int64_t i = 0; i < axis.count; ++i)
    all.insert(axis.start + i * axis.step);
  return all;
}

} // namespace

TEST(Region, AxesAreComparedExactly) {
  std::mt19937 random(1);
  auto pick = [&](int low, int high) {
    return int64_t(std::uniform_int_distribution<int>(low, high)(random));
  };
  for (int round = 0; round < 20000; ++round) {
    Axis a{pick(0, 20), pick(0, 6), pick(1, 7)}, b{pick(0, 20), pick(0, 6), pick(1, 7)};
    std::set<int64_t> x = positions(a), y = positions(b), both;
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::inserter(both, both.end()));
    ASSERT_EQ(overlaps(a, b), !both.empty());
    ASSERT_EQ(positions(intersection(a, b)), both);
    ASSERT_EQ(contains(a, b), std::includes(x.begin(), x.end(), y.begin(), y.end()));
  }
}

TEST(Region, LargeStepsDoNotOverflow) {
  int64_t big = int64_t(1) << 60;
  EXPECT_FALSE(overlaps(Axis{0, 7, big}, Axis{3, 2, big - 1}));
  EXPECT_TRUE(overlaps(Axis{0, 8, big}, Axis{big, 1, 1}));
  EXPECT_EQ(intersection(Axis{0, INT64_MAX, 1}, Axis{5, 3, big}).count, 3);
}

TEST(Region, BoxesAreProducts) {
  Axis even[] = {{0, 4, 2}, {0, 8, 1}}, odd[] = {{1, 4, 2}, {0, 8, 1}},
       left[] = {{0, 8, 1}, {0, 4, 1}};
  EXPECT_FALSE(overlaps(Box(even), Box(odd)));
  EXPECT_TRUE(overlaps(Box(even), Box(left)));
  EXPECT_FALSE(contains(Box(even), Box(left)));
  EXPECT_TRUE(containsCommon(Box(even), Box(even), Box(left)));
  EXPECT_FALSE(containsCommon(Box(odd), Box(even), Box(left)));
  EXPECT_TRUE(containsCommon(Box(left), Box(even), Box(odd)));
  EXPECT_TRUE(overlaps(Box(), Box()));
}
