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

TEST(SharedRing, UsesItsBeginningIfTheReaderKeepsUp) {
  constexpr size_t kCapacity = 8 * SharedRing::kUsedFirst, kMessage = 1000;
  RingMemory memory(kCapacity);
  SharedRing writer(memory.bytes.get(), kCapacity), reader(memory.bytes.get(), kCapacity);
  std::vector<char> from(kMessage, 'x'), to(kMessage);
  auto pass = [&](size_t messages) {
    for (size_t i = 0; i < messages; ++i)
      EXPECT_EQ(writer.write(from.data(), kMessage), kMessage);
    for (size_t i = 0; i < messages; ++i) {
      to.assign(kMessage, ' ');
      EXPECT_EQ(reader.read(to.data(), kMessage), kMessage);
      EXPECT_EQ(to, from);
    }
  };
  auto isUsed = [&](size_t at) {
    return static_cast<const char *>(memory.bytes.get())[sizeof(RingHead) + at] != 0;
  };
  for (int i = 0; i < 1000; ++i)
    pass(1);
  EXPECT_TRUE(isUsed(SharedRing::kUsedFirst - 1));
  EXPECT_FALSE(isUsed(SharedRing::kUsedFirst + kMessage));
  // A reader that is behind has all of the ring before it.
  pass(kCapacity / kMessage);
  EXPECT_TRUE(isUsed(kCapacity / kMessage * kMessage - 1));
}

TEST(SharedRing, BetweenThreads) {
  for (size_t capacity : {size_t(64), size_t(320), 3 * SharedRing::kUsedFirst}) {
    const size_t size = std::max<size_t>(1 << 15, 16 * capacity);
    RingMemory memory(capacity);
    std::vector<char> from(size), to(size);
    std::mt19937 random(1);
    for (char &byte : from)
      byte = static_cast<char>(random());
    auto pieces = [size](uint32_t seed, auto move) {
      std::mt19937 drawn(seed);
      for (size_t at = 0; at < size;) {
        size_t moved = move(at, std::min<size_t>(size - at, 1 + drawn() % 5000));
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
