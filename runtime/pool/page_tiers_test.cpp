// Tiers of a pool beside plain lists of what was used last.
#include "frontend/base/folder_test_util.h"
#include "runtime/pool/page_hash.h"
#include "runtime/pool/page_tiers.h"
#include "runtime/pool/pool_test_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <unistd.h>

namespace ptl::pool {
namespace {

class Tiers : public FolderTest {
protected:
  PageTiers make(uint32_t memory, uint32_t disk) {
    std::string why;
    auto inMemory =
        memory ? std::make_unique<MemoryPages>(PoolShape{kPage, memory, 1024}) : nullptr;
    auto onDisk = disk ? PagePool::open(folder_ + "/pool", {kPage, disk, 8}, why) : nullptr;
    EXPECT_EQ(why, "");
    return {std::move(inMemory), std::move(onDisk)};
  }

  /// Requests for chains that begin alike, each page of which is taken or made.
  static void compare(PageTiers &tiers, Model &memory, Model &disk, uint64_t seed) {
    std::mt19937_64 dice(seed);
    for (int request = 0; request < 400; ++request) {
      uint64_t chain = dice() % 24;
      Key parent = kNoKey;
      for (uint64_t at = 0, count = 1 + dice() % 6; at < count; ++at) {
        Key key{(at < 2 ? chain / 8 : chain) + 1, at + 1};
        bool inMemory = memory.has(key), onDisk = disk.has(key);
        std::vector<uint8_t> page(kPage);
        ASSERT_EQ(tiers.get(key, parent, page), inMemory || onDisk) << request << " " << at;
        if (inMemory || onDisk) {
          ASSERT_EQ(page, pageOf(key));
          disk.use(key);
          memory.put(key, parent);
        } else {
          tiers.put(key, parent, pageOf(key));
          disk.put(key, parent);
          memory.put(key, parent);
        }
        parent = key;
      }
    }
  }
};

TEST_F(Tiers, FindWhatListsOfTheLastUsedHave) {
  for (auto [memoryRoom, diskRoom] : {std::pair(7u, 0u), {0u, 19u}, {7u, 19u}, {40u, 19u}}) {
    PageTiers tiers = make(memoryRoom, diskRoom);
    Model memory(memoryRoom), disk(diskRoom);
    compare(tiers, memory, disk, memoryRoom * 100 + diskRoom);
    EXPECT_GT(tiers.counts().missing, 0u);
    EXPECT_EQ(tiers.counts().inMemory > 0, memoryRoom > 0);
    if (diskRoom > memoryRoom)
      EXPECT_GT(tiers.counts().onDisk, 0u);
    std::filesystem::remove_all(folder_ + "/pool");
  }
}

TEST(Keys, DifferInAnyBit) {
  std::vector<uint8_t> bytes(37, 5);
  std::map<Key, size_t> seen{{hashOf(bytes), 999}};
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    EXPECT_TRUE(seen.emplace(hashOf(bytes), bit).second) << bit;
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
  for (size_t length = 0; length < 37; ++length)
    EXPECT_TRUE(seen.emplace(hashOf(std::span(bytes).first(length)), length).second) << length;
}

TEST(Keys, SayWhereTextsEnd) {
  auto keyOf = [](std::string_view a, std::string_view b) {
    KeyMaker maker;
    maker.add(a);
    maker.add(b);
    return maker.key();
  };
  EXPECT_NE(keyOf("ab", "c"), keyOf("a", "bc"));
  EXPECT_EQ(keyOf("ab", "c"), keyOf("ab", "c"));
}

} // namespace
} // namespace ptl::pool
