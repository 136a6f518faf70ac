#include "runtime/sim/time/shared.h"

#include <gtest/gtest.h>

namespace ptl::rt::sim {
namespace {

TEST(SimShared, BlocksThatRepresentOthersKnowWhatTheyWouldMissAlone) {
  SecondLevel level(64 * 512, 512);
  uint32_t a = level.add(32 * 512, false);
  View view; // rows of 224 bytes, at distances of two lines
  view.elem = ElemKind::I8;
  view.rank = 2;
  view.shape[0] = 4;
  view.shape[1] = 224;
  view.strides[0] = 1024;
  view.strides[1] = 1;
  Touch first = level.touchAs({1, 0, 0}, a, view);
  EXPECT_EQ(first.missed, 4 * 512);
  EXPECT_EQ(first.byOthers, 0);
  EXPECT_DOUBLE_EQ(first.own(), 4 * 224);
  // The neighbour shares their lines, and half of its own are new.
  view.offset = 224;
  view.shape[1] = 448;
  Touch second = level.touchAs({1, 1, 0}, a, view);
  EXPECT_EQ(second.missed, 4 * 512);
  EXPECT_EQ(second.byOthers, 4 * 512);
  EXPECT_DOUBLE_EQ(second.own(), 4 * 448);
  // What a block has touched itself it would find without others, too.
  Touch again = level.touchAs({1, 1, 0}, a, view);
  EXPECT_EQ(again.missed + again.byOthers, 0);
  // What another one has brought in an earlier round is there for all.
  view.offset = 0;
  EXPECT_DOUBLE_EQ(level.touchAs({1, 2, 1}, a, view).own(), 0);
  // So it is with what an earlier launch has brought.
  EXPECT_DOUBLE_EQ(level.touchAs({2, 0, 0}, a, view).own(), 0);
}

} // namespace
} // namespace ptl::rt::sim
