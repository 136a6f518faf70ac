#include "compile/chip/chip_search.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

Overflow full() {
  Overflow overflow;
  overflow.space.place = "vec";
  overflow.needed = 2;
  overflow.space.usable = 1;
  return overflow;
}

TEST(ChipSearch, eachKernelHasAWayOfItsOwn) {
  ChipSearch search(/*mayHalve=*/false, /*mayCut=*/true);
  search.see({0, 0});
  EXPECT_EQ(search.afterOverflow(1, full(), {}), SearchStep::Lower);
  std::vector<block::LowerOptions> options = search.options();
  ASSERT_EQ(options.size(), 2u);
  EXPECT_EQ(options[0], block::LowerOptions());
  EXPECT_EQ(options[1].parts, 2);
  EXPECT_EQ(search.afterPlacing(), SearchStep::GoOn);
}

TEST(ChipSearch, theFirstKernelThatFitsInNoWayEndsIt) {
  ChipSearch search(/*mayHalve=*/false, /*mayCut=*/false);
  search.see({0, 0});
  EXPECT_EQ(search.afterOverflow(1, full(), {}), SearchStep::GiveUp);
  EXPECT_EQ(search.refusal().needed, 2);
}

TEST(ChipSearch, tilesOfAllGroupsThatAreTooLargeAreHalvedAtOnce) {
  ChipSearch search(/*mayHalve=*/true, /*mayCut=*/true);
  search.see({1, 2, 3});
  EXPECT_EQ(search.afterOverflow(0, full(), {}), SearchStep::GoOn);
  EXPECT_EQ(search.afterOverflow(2, full(), {}), SearchStep::GoOn);
  EXPECT_TRUE(search.isHalving(0));
  EXPECT_FALSE(search.isHalving(1));
  EXPECT_EQ(search.afterPlacing(), SearchStep::Tile);
  EXPECT_EQ(search.halvings(), (std::vector<int64_t>{0, 1, 0, 1}));
  EXPECT_FALSE(search.isHalving(0));
}

TEST(ChipSearch, otherGroupsAreAllHalvedAlike) {
  ChipSearch search(/*mayHalve=*/true, /*mayCut=*/true);
  search.see({1, 2});
  search.afterOverflow(0, full(), {});
  search.afterPlacing();
  search.see({1, 2, 3});
  search.afterOverflow(0, full(), {});
  EXPECT_EQ(search.afterPlacing(), SearchStep::Tile);
  EXPECT_EQ(search.halvings(), (std::vector<int64_t>{2, 2, 2, 2}));
}

TEST(ChipSearch, smallestTilesAreCutAndThenItEnds) {
  ChipSearch search(/*mayHalve=*/true, /*mayCut=*/true);
  for (int tiling = 0; tiling < 5; ++tiling) {
    search.see({1});
    ASSERT_EQ(search.afterOverflow(0, full(), {}), SearchStep::GoOn);
    ASSERT_EQ(search.afterPlacing(), SearchStep::Tile);
  }
  search.see({1});
  ASSERT_EQ(search.afterOverflow(0, full(), {}), SearchStep::Lower);
  EXPECT_EQ(search.options().front().parts, 2);
  EXPECT_EQ(search.afterUncut(0), SearchStep::Lower);
  EXPECT_EQ(search.afterUncut(0), SearchStep::Lower);
  for (int64_t bytes : {32, 8, 2}) {
    EXPECT_EQ(search.options().front().statementBytes, bytes << 10);
    ASSERT_EQ(search.afterOverflow(0, full(), {}),
              bytes == 2 ? SearchStep::GiveUp : SearchStep::Lower);
  }
  EXPECT_EQ(
      search.refusal().tried,
      (std::vector<std::string>{"loads for the next point of the grid reuse the present buffers",
                                "stores and folds are computed in parts of 2 KiB at most",
                                "tiles are 1/32 of the usual size"}));
  EXPECT_TRUE(search.refusal().wholeTiles);
}

} // namespace
} // namespace ptl
