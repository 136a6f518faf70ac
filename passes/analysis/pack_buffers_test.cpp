#include "passes/analysis/pack_buffers.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>
#include <random>

namespace ptl {
namespace {

std::vector<PackItem> randomItems(std::mt19937 &random, size_t count, uint32_t meanLength) {
  std::vector<PackItem> items;
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (size_t i = 0; i < count; ++i) {
    PackItem item;
    item.begin = below(static_cast<uint32_t>(2 * count));
    item.end = item.begin + 1 + below(2 * meanLength);
    if (below(20) == 0) // something that lives long
      item.end = item.begin + below(static_cast<uint32_t>(count));
    item.bytes = below(3) ? int64_t(32) << below(10) : 1 + below(20000);
    items.push_back(item);
  }
  return items;
}

// By brute force: aligned, and no two that are live together share bytes.
void expectLegal(const std::vector<PackItem> &items, const Packing &packing, int64_t alignment) {
  ASSERT_EQ(packing.addresses.size(), items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    int64_t low = packing.addresses[i], high = low + items[i].bytes;
    EXPECT_GE(low, 0);
    EXPECT_EQ(low % alignment, 0);
    EXPECT_LE(high, packing.peak);
    for (size_t j = 0; j < i; ++j) {
      bool together = items[i].begin <= items[j].end && items[j].begin <= items[i].end;
      bool shared = low < packing.addresses[j] + items[j].bytes && packing.addresses[j] < high;
      EXPECT_FALSE(together && shared) << i << " and " << j;
    }
  }
}

TEST(PackBuffers, GivenAddressesThatShareBytesCountOnce) {
  std::vector<PackItem> items = {
      {0, 9, 1024, 0}, {0, 9, 1024, 512}, {0, 9, 256, 4096}, {3, 5, 512, std::nullopt}};
  Packing measured = measureLive(items, 32);
  EXPECT_EQ(measured.lowerBound, 1536 + 256 + 512);
  EXPECT_EQ(measured.fullest, 3u);
  Packing packing = packBuffers(items, 32);
  EXPECT_EQ(packing.addresses[1], 512);
  EXPECT_GE(packing.addresses[3], 1536);
  EXPECT_EQ(packing.peak, 4096 + 256);
}

TEST(PackBuffers, RandomProgramsAreLegalAndNearTheLowerBound) {
  std::mt19937 random(1);
  double wasted = 0;
  int programs = 0;
  for (size_t count : {1, 2, 3, 5, 8, 13, 20, 40, 80, 200, 400})
    for (int repeat = 0; repeat < 20; ++repeat, ++programs) {
      std::vector<PackItem> items = randomItems(random, count, 1 + random() % 12);
      int64_t alignment = repeat % 2 ? 32 : 512;
      Packing packing = packBuffers(items, alignment);
      expectLegal(items, packing, alignment);
      EXPECT_GE(packing.peak, packing.lowerBound);
      double waste =
          static_cast<double>(packing.peak) / static_cast<double>(packing.lowerBound) - 1;
      wasted += waste;
      EXPECT_LE(waste, 0.12) << count << " buffers";
    }
  EXPECT_LE(wasted / programs, 0.01);
  std::printf("mean waste %.3f %%\n", 100 * wasted / programs);
}

TEST(PackBuffers, TenThousandBuffersAreQuick) {
  std::mt19937 random(2);
  for (uint32_t length : {4, 40, 400, 100000}) {
    std::vector<PackItem> items = randomItems(random, 10000, length);
    std::clock_t start = std::clock();
    Packing packing = packBuffers(items, 32);
    double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LE(packing.peak, packing.lowerBound + packing.lowerBound / 3);
    EXPECT_LT(seconds, 1); // far above what it takes, for machines under load
    std::printf("length %u: %.1f ms, waste %.2f %%\n", length, 1000 * seconds,
                100.0 * static_cast<double>(packing.peak - packing.lowerBound) /
                    static_cast<double>(packing.lowerBound));
  }
}

TEST(PackBuffers, GivenAddressesStay) {
  std::vector<PackItem> items = {{0, 9, 64, 32}, {0, 9, 32, {}}, {0, 9, 32, {}}, {10, 12, 128, {}}};
  Packing packing = packBuffers(items, 32);
  EXPECT_EQ(packing.addresses[0], 32);
  expectLegal(items, packing, 32);
  EXPECT_EQ(packing.peak, 128);
}

TEST(PackBuffers, WhatIsNeverLiveTogetherSharesBytes) {
  std::vector<PackItem> items = {{0, 1, 100, {}}, {2, 3, 100, {}}, {3, 4, 10, {}}};
  Packing packing = packBuffers(items, 32);
  EXPECT_EQ(packing.addresses[0], packing.addresses[1]);
  EXPECT_EQ(packing.lowerBound, 160);
  EXPECT_EQ(packing.peak, 160);
  EXPECT_EQ(packing.fullest, 3u);
}

TEST(PackBuffers, NothingToPack) { EXPECT_EQ(packBuffers({}, 32).peak, 0); }

} // namespace
} // namespace ptl
