#include "runtime/schedule/body_times.h"

#include <gtest/gtest.h>

#include <vector>

using namespace ptl::rt;

namespace {

void quick(void *, const void *, int64_t, int64_t) {}
void other(void *, const void *, int64_t, int64_t) {}

/// Bodies that are never called.
TaskBody bodyAt(uintptr_t address) { return reinterpret_cast<TaskBody>(address); }

} // namespace

TEST(BodyTimes, AreKnownAfterAFewTasks) {
  BodyTimes times;
  EXPECT_FALSE(times.isShort(quick));
  EXPECT_TRUE(times.isDue(quick, 1, 16));
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(times.isShort(quick));
    times.add(quick, 20);
  }
  EXPECT_TRUE(times.isShort(quick));
  EXPECT_FALSE(times.isShort(other));
}

TEST(BodyTimes, AreMeasuredMoreSeldomLater) {
  BodyTimes times;
  for (uint64_t number = 1; times.isDue(quick, number, 16); ++number) {
    ASSERT_LT(number, 64u);
    times.add(quick, 20);
  }
  EXPECT_FALSE(times.isDue(quick, 33, 16));
  EXPECT_TRUE(times.isDue(quick, 48, 16));
}

TEST(BodyTimes, OneLongTaskWeighsAtOnceAndIsForgottenSlowly) {
  BodyTimes times;
  for (int i = 0; i < 100; ++i)
    times.add(quick, 20);
  times.add(quick, 5'000'000'000);
  EXPECT_FALSE(times.isShort(quick));
  int needed = 0;
  for (; !times.isShort(quick); ++needed) {
    ASSERT_LT(needed, 100);
    times.add(quick, 20);
  }
  EXPECT_GT(needed, 20);
}

TEST(BodyTimes, ALengthAtTheLimitIsReached) {
  BodyTimes times;
  times.add(quick, BodyTimes::handOver + 2);
  for (int i = 0; i < 8; ++i)
    times.add(quick, BodyTimes::handOver);
  EXPECT_TRUE(times.isShort(quick));
}

TEST(BodyTimes, OfMoreBodiesThanThereIsRoomFor) {
  BodyTimes times;
  std::vector<TaskBody> bodies;
  for (uintptr_t i = 1; i <= 2000; ++i)
    bodies.push_back(bodyAt(i * 16));
  size_t known = 0;
  for (int i = 0; i < 4; ++i)
    for (TaskBody body : bodies)
      times.add(body, reinterpret_cast<uintptr_t>(body) % 32 == 0 ? 10 : 1000);
  for (TaskBody body : bodies) {
    if (!times.isShort(body))
      continue;
    ++known;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(body) % 32, 0u);
  }
  EXPECT_GT(known, 50u);
  EXPECT_LE(known, 256u);
}
