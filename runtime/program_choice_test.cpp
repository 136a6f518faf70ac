#include "runtime/program_choice.h"

#include <gtest/gtest.h>

using namespace ptl::rt;

namespace {

/// How often a program runs in order in so many runs, with these times.
int inOrder(ProgramChoice &choice, int64_t number, int runs, int64_t threads, int64_t alone) {
  int count = 0;
  const int64_t key[] = {number, 2, 64};
  for (int i = 0; i < runs; ++i) {
    bool chosen = choice.runsInOrder(key);
    count += chosen;
    choice.note(key, chosen, chosen ? alone : threads, 10);
  }
  return count;
}

} // namespace

TEST(ProgramChoice, TakesTheFasterWayAndTriesTheOtherNowAndAgain) {
  ProgramChoice choice;
  EXPECT_GT(inOrder(choice, 1, 1000, 30'000, 20'000), 960);
  int tries = inOrder(choice, 2, 1000, 20'000, 30'000);
  EXPECT_GT(tries, 10);
  EXPECT_LT(tries, 30);
}

TEST(ProgramChoice, LongProgramsAlwaysHaveThreads) {
  ProgramChoice choice;
  EXPECT_EQ(inOrder(choice, 1, 100, 5'000'000, 1), 0);
}

TEST(ProgramChoice, ChangesItsMind) {
  ProgramChoice choice;
  inOrder(choice, 1, 1000, 30'000, 20'000);
  EXPECT_LT(inOrder(choice, 1, 10000, 30'000, 50'000), 2000);
}
