// Pages in the memories of several parts beside one plain list for all of them.
#include "runtime/pool/pool_test_util.h"
#include "runtime/pool/spread_pages.h"

#include <gtest/gtest.h>

namespace ptl::pool {
namespace {

/// Parts that make the same calls agree on where everything lies, and each has what lies with it.
TEST(SpreadPages, AreOneRoom) {
  for (auto [parts, slots] : {std::pair(1u, 5u), {3u, 2u}, {4u, 1u}, {5u, 4u}}) {
    std::vector<SpreadPages> all(parts, SpreadPages(parts, slots));
    Model list(size_t(parts) * slots);
    std::mt19937_64 dice(parts * 10 + slots);
    uint64_t found = 0, refused = 0;
    for (int request = 0; request < 500; ++request) {
      uint64_t chain = dice() % 20;
      Key parent = kNoKey;
      for (uint64_t at = 0, count = 1 + dice() % 6; at < count; ++at) {
        Key key{(at < 2 ? chain / 5 : chain) + 1, at + 1};
        bool isThere = list.has(key);
        std::optional<uint32_t> part = all[0].use(key);
        for (uint32_t i = 1; i < parts; ++i)
          ASSERT_EQ(all[i].use(key), part);
        ASSERT_EQ(part.has_value(), isThere) << request << " " << at;
        if (isThere) {
          std::span<const uint8_t> bytes = all[*part].read(key, 2);
          ASSERT_TRUE(std::ranges::equal(bytes, pageOf(key)));
          ASSERT_TRUE(all[*part].read(key, 1).empty());
          ++found;
        }
        list.put(key, parent);
        for (uint32_t i = 0; i < parts; ++i)
          part = all[i].reserve(key, parent);
        ASSERT_EQ(part.has_value(), list.has(key));
        refused += !part;
        if (part && !isThere) {
          ASSERT_TRUE(all[*part].read(key, 2).empty()) << "a page of another key";
          all[*part].write(key, 2, pageOf(key));
        }
        parent = key;
      }
      ASSERT_EQ(all[0].size(), list.keys().size());
    }
    EXPECT_GT(found, 0u);
    EXPECT_EQ(refused > 0, parts * slots < 6);
  }
}

} // namespace
} // namespace ptl::pool
