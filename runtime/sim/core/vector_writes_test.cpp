#include "runtime/sim/core/vector_writes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

using namespace ptl::rt::sim;

namespace vector_writes_test {

constexpr size_t kBytes = 8;

struct Memory {
  std::array<uint8_t, kBytes> bytes = {};

  /// An instruction that writes a value to some bytes and has ended.
  HeldWrites write(size_t first, size_t count, uint8_t value) {
    View view;
    view.elem = ptl::ElemKind::I8;
    view.rank = 1;
    view.shape[0] = static_cast<int64_t>(count);
    view.strides[0] = 1;
    Plane plane;
    plane.base = bytes.data() + first;
    plane.view = &view;
    plane.elem = view.elem;
    plane.rows = 1;
    plane.cols = static_cast<int64_t>(count);
    HeldWrites writes;
    writes.watch(plane, true);
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(first), count, value);
    writes.take();
    return writes;
  }
};

TEST(SimVectorWrites, OthersSeeThemOncePublishedAndThePipeOnceSettled) {
  Memory memory;
  VectorWrites writes;
  writes.add(memory.write(0, 4, 7));
  EXPECT_EQ(memory.bytes[0], 0) << "nobody sees them";
  writes.publish(nullptr);
  EXPECT_EQ(memory.bytes[0], 7) << "other pipes do";
  writes.hide();
  EXPECT_EQ(memory.bytes[0], 0) << "the vector pipe does not";
  writes.reveal();
  EXPECT_EQ(memory.bytes[0], 7);
  writes.settle(nullptr);
  writes.hide();
  EXPECT_EQ(memory.bytes[0], 7) << "settled writes are hidden from nobody";
}

TEST(SimVectorWrites, OnlyWhatIsPublishedSettlesUpToACount) {
  Memory memory;
  VectorWrites writes;
  writes.add(memory.write(0, 1, 1));
  writes.add(memory.write(1, 1, 2));
  EXPECT_EQ(writes.count(), 2u);
  writes.publish(nullptr);
  writes.add(memory.write(2, 1, 3));
  writes.settleUpTo(1);
  writes.hide();
  EXPECT_EQ(memory.bytes[0], 1);
  EXPECT_EQ(memory.bytes[1], 0) << "beyond the count";
  writes.reveal();
  writes.settleUpTo(3);
  EXPECT_EQ(memory.bytes[2], 0) << "not published";
  writes.publish(nullptr);
  writes.hide();
  EXPECT_EQ(memory.bytes[1], 2);
  EXPECT_EQ(memory.bytes[2], 0) << "published after the pipe had waited";
}

TEST(SimVectorWrites, HidingTakesBackWritesThatOverlap) {
  Memory memory;
  VectorWrites writes;
  writes.add(memory.write(0, 4, 1));
  writes.publish(nullptr);
  writes.add(memory.write(2, 4, 2));
  writes.publish(nullptr);
  const std::array<uint8_t, kBytes> seen = {1, 1, 2, 2, 2, 2, 0, 0};
  EXPECT_EQ(memory.bytes, seen);
  writes.hide();
  EXPECT_EQ(memory.bytes, (std::array<uint8_t, kBytes>{}));
  writes.reveal();
  EXPECT_EQ(memory.bytes, seen);
}

TEST(SimVectorWrites, ThoseWithoutABarrierBetweenThemEndInAnyOrder) {
  std::set<uint8_t> last;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Memory memory;
    VectorWrites writes;
    std::mt19937_64 random(seed);
    writes.add(memory.write(0, 1, 1));
    writes.add(memory.write(0, 1, 2));
    writes.publish(&random);
    last.insert(memory.bytes[0]);
  }
  EXPECT_EQ(last, (std::set<uint8_t>{1, 2}));
}

} // namespace vector_writes_test
