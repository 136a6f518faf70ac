// A stream through a ring arrives as it was written, whatever pieces both sides take.
#include "runtime/ranks/shared_ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace ptl::ranks {

struct RingMemory {
  explicit RingMemory(size_t capacity)
      : bytes(std::aligned_alloc(64, sizeof(RingHead) + capacity), &std::free) {
    std::memset(bytes.get(), 0, sizeof(RingHead) + capacity);
  }
  std::unique_ptr<void, void (*)(void *)> bytes;
};

TEST(SharedRing, TakesAsMuchAsThereIsRoomFor) {
  RingMemory memory(64);
  SharedRing writer(memory.bytes.get(), 64), reader(memory.bytes.get(), 64);
  std::vector<char> from(100), to(100);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<char>(i);
  EXPECT_EQ(reader.read(to.data(), 100), 0u);
  EXPECT_EQ(writer.write(from.data(), 100), 64u);
  EXPECT_EQ(writer.write(from.data() + 64, 36), 0u);
  EXPECT_EQ(reader.read(to.data(), 10), 10u);
  EXPECT_EQ(writer.write(from.data() + 64, 36), 10u);
  EXPECT_EQ(reader.read(to.data() + 10, 90), 64u);
  EXPECT_EQ(writer.write(from.data() + 74, 26), 26u);
  EXPECT_EQ(reader.read(to.data() + 74, 26), 26u);
  EXPECT_EQ(from, to);
  EXPECT_FALSE(SharedRing());
}

TEST(SharedRing, BetweenThreads) {
  constexpr size_t kSize = 1 << 15;
  for (size_t capacity : {64u, 320u}) {
    RingMemory memory(capacity);
    std::vector<char> from(kSize), to(kSize);
    std::mt19937 random(1);
    for (char &byte : from)
      byte = static_cast<char>(random());
    auto pieces = [](uint32_t seed, auto move) {
      std::mt19937 drawn(seed);
      for (size_t at = 0; at < kSize;) {
        size_t moved = move(at, std::min<size_t>(kSize - at, 1 + drawn() % 500));
        at += moved;
        if (moved == 0)
          std::this_thread::yield();
      }
    };
    std::thread writing([&] {
      SharedRing ring(memory.bytes.get(), capacity);
      pieces(2, [&](size_t at, size_t size) { return ring.write(from.data() + at, size); });
    });
    SharedRing ring(memory.bytes.get(), capacity);
    pieces(3, [&](size_t at, size_t size) { return ring.read(to.data() + at, size); });
    writing.join();
    EXPECT_EQ(from, to) << capacity;
  }
}

} // namespace ptl::ranks
