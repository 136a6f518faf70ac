#include "passes/lower_block/lower_choices.h"

#include <gtest/gtest.h>

namespace ptl::block {
namespace {

using Texts = std::vector<std::string>;

Overflow overflowOf(std::string place, LedgerBuffer::Kind kind, int64_t needed = 300) {
  Overflow overflow;
  overflow.space.place = std::move(place);
  overflow.space.usable = 200;
  overflow.needed = needed;
  LedgerBuffer buffer;
  buffer.kind = kind;
  buffer.total = needed;
  overflow.live.push_back(buffer);
  return overflow;
}

const Overflow slots = overflowOf("vec", LedgerBuffer::Kind::Slots);
const Overflow tiles = overflowOf("vec", LedgerBuffer::Kind::Tile);

/// Lets a kernel fail in every way: how often it was lowered.
int exhaust(KernelSearch &search, const Overflow &overflow, const KernelTraits &traits) {
  int attempts = 1;
  while (search.afterOverflow(overflow, traits))
    ++attempts;
  return attempts;
}

TEST(LowerChoices, beginsWithAllOverlap) {
  KernelSearch search(0, false, true);
  EXPECT_EQ(search.present().options, LowerOptions());
  EXPECT_TRUE(search.givenUp().empty());
}

TEST(LowerChoices, leavesOutWhatCannotHelp) {
  KernelSearch search(0, false, true);
  ASSERT_TRUE(search.afterOverflow(tiles, {})); // nothing is in slots: there is no next point
  EXPECT_EQ(search.present().options.gridBuffers, 2);
  EXPECT_EQ(search.present().options.parts, 2);

  KernelSearch other(0, false, true);
  ASSERT_TRUE(other.afterOverflow(slots, {}));
  EXPECT_EQ(other.present().options.gridBuffers, 1);
  EXPECT_EQ(other.givenUp(),
            Texts{"loads for the next point of the grid reuse the present buffers"});
}

TEST(LowerChoices, whatIsNoUseTwiceIsNotDoneThrice) {
  Overflow mat = overflowOf("mat", LedgerBuffer::Kind::Tile);
  KernelSearch search(0, false, false);
  ASSERT_TRUE(search.afterOverflow(mat, {}));
  EXPECT_EQ(search.present().options.streamed, 1);
  EXPECT_FALSE(search.afterOverflow(mat, {})); // as much as before
  KernelSearch other(0, false, false);
  ASSERT_TRUE(other.afterOverflow(mat, {}));
  EXPECT_TRUE(other.afterOverflow(overflowOf("mat", LedgerBuffer::Kind::Tile, 250), {}));
  EXPECT_EQ(other.present().options.streamed, 2);
}

TEST(LowerChoices, comesToAnEndAndSaysWhatItTried) {
  KernelSearch search(0, false, true);
  EXPECT_LE(exhaust(search, slots, {true, true}), 104);
  Overflow refusal = search.refusal();
  EXPECT_EQ(refusal.needed, 300);
  EXPECT_FALSE(refusal.wholeTiles);
  EXPECT_EQ(refusal.tried,
            (Texts{"loops with `unroll` are not unrolled",
                   "loads for the next point of the grid reuse the present buffers",
                   "vector cores take tiles from queues in 8 slices of rows",
                   "no iteration of a loop runs ahead of the instructions that wait for it",
                   "loads for the next part reuse the present buffers",
                   "tiles are done in 16 parts inside of loops",
                   "all work of a point of the grid is done in 16 parts",
                   "queues between cores have one slot",
                   "stores and folds are computed in parts of 2 KiB at most"}));
}

TEST(LowerChoices, slicesComeBeforeAnythingThatMakesProductsSmaller) {
  KernelSearch search(0, false, true);
  ASSERT_TRUE(search.afterOverflow(tiles, {false, true}));
  EXPECT_EQ(search.present().options.slices, 2);
  EXPECT_EQ(search.present().options.parts, 1);
  ASSERT_TRUE(search.afterOverflow(tiles, {false, true}));
  EXPECT_EQ(search.present().options.slices, 4);
  ASSERT_TRUE(search.afterUncut()); // four slices are too many
  EXPECT_EQ(search.present().options.slices, 2);
  EXPECT_EQ(search.present().options.ahead, 1);
  while (search.present().options.parts == 1)
    ASSERT_TRUE(search.afterOverflow(tiles, {false, true}));
  EXPECT_EQ(search.present().options.slices, 1); // products are cut now
  KernelSearch whole(0, false, true, /*maySlice=*/false);
  ASSERT_TRUE(whole.afterOverflow(tiles, {false, true}));
  EXPECT_EQ(whole.present().options.slices, 1);
}

TEST(LowerChoices, whatCannotBeCutIsNoAttempt) {
  KernelSearch search(0, false, true);
  ASSERT_TRUE(search.afterOverflow(tiles, {}));
  EXPECT_EQ(search.present().options.parts, 2);
  ASSERT_TRUE(search.afterUncut());
  EXPECT_EQ(search.present().options.parts, 1);
  EXPECT_EQ(search.present().options.pointParts, 2);
  ASSERT_TRUE(search.afterUncut());
  EXPECT_EQ(search.present().options.pointParts, 1);
  EXPECT_EQ(search.present().options.statementBytes, 32 << 10);
  EXPECT_TRUE(search.refusal().wholeTiles);
  EXPECT_EQ(exhaust(search, tiles, {}), 3); // 32, 8 and 2 KiB
}

TEST(LowerChoices, partsThatBecomeTooSmallWereParts) {
  KernelSearch search(0, false, true);
  ASSERT_TRUE(search.afterOverflow(tiles, {}));
  ASSERT_TRUE(search.afterOverflow(tiles, {}));
  EXPECT_EQ(search.present().options.parts, 4);
  ASSERT_TRUE(search.afterUncut()); // four parts are too many
  EXPECT_EQ(search.present().options.pointParts, 2);
  ASSERT_TRUE(search.afterUncut());
  EXPECT_FALSE(search.refusal().wholeTiles);
  EXPECT_EQ(search.refusal().tried,
            (Texts{"loads for the next point of the grid reuse the present buffers",
                   "tiles are done in 2 parts inside of loops",
                   "stores and folds are computed in parts of 32 KiB at most"}));
}

TEST(LowerChoices, ownTilesAreHalvedBeforeTheyAreCut) {
  KernelSearch search(2, true, true);
  ASSERT_TRUE(search.afterOverflow(tiles, {}));
  EXPECT_TRUE(search.present().isHalving);
  EXPECT_EQ(search.present().options.parts, 1);
  EXPECT_EQ(search.refusal().tried, Texts{"tiles are 1/4 of the usual size"});
  KernelSearch last(4, false, true);
  ASSERT_TRUE(last.afterOverflow(tiles, {}));
  EXPECT_FALSE(last.present().isHalving);
  EXPECT_EQ(last.present().options.parts, 2);
}

} // namespace
} // namespace ptl::block
