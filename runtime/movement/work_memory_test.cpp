#include "runtime/movement/work_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

namespace ptl::movement {
namespace {

TEST(WorkMemory, PiecesDoNotOverlap) {
  WorkMemory memory;
  for (size_t largest : {size_t(100), size_t(100'000), size_t(5 << 20)}) {
    std::vector<std::pair<uint8_t *, size_t>> pieces;
    for (uint8_t i = 0; i < 20; ++i) {
      size_t size = largest / (1 + i % 3) + i;
      uint8_t *piece = memory.take(size);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % 64, 0u);
      std::memset(piece, i, size);
      pieces.emplace_back(piece, size);
    }
    for (uint8_t i = 0; i < 20; ++i)
      EXPECT_EQ(std::count(pieces[i].first, pieces[i].first + pieces[i].second, i),
                static_cast<std::ptrdiff_t>(pieces[i].second));
    memory.release();
  }
}

TEST(WorkMemory, IsKept) {
  WorkMemory memory;
  std::set<uint8_t *> first, second;
  for (std::set<uint8_t *> *pieces : {&first, &second}) {
    for (size_t size : {100, 3000, 2 << 20, 70'000})
      pieces->insert(memory.take(size));
    memory.release();
  }
  EXPECT_EQ(first, second);
}

} // namespace
} // namespace ptl::movement
