#include "runtime/vector_sort.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace ptl::rt;

namespace {

template <typename Number> void expectSorted(std::vector<Number> numbers, const char *kind) {
  std::vector<Number> expected = numbers, room(numbers.size() + kVectorSortSlack);
  std::sort(expected.begin(), expected.end());
  sortByVectors(numbers.data(), static_cast<int64_t>(numbers.size()), room.data());
  EXPECT_EQ(numbers, expected) << numbers.size() << " numbers, " << kind;
}

template <typename Number> void expectAllSorted() {
  std::mt19937_64 random(1);
  auto made = [&](int64_t count, const std::function<Number(int64_t)> &at) {
    std::vector<Number> numbers;
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(at(i));
    return numbers;
  };
  constexpr Number largest = static_cast<Number>(-1);
  std::vector<int64_t> counts = {1000, 4096, 20001};
  for (int64_t count = 0; count < 300; ++count)
    counts.push_back(count);
  for (int64_t n : counts) {
    expectSorted(made(n, [&](int64_t) { return static_cast<Number>(random()); }), "any");
    expectSorted(made(n, [&](int64_t) { return static_cast<Number>(random() % 3); }), "few values");
    expectSorted(made(n, [&](int64_t i) { return static_cast<Number>(i); }), "sorted");
    expectSorted(made(n, [&](int64_t i) { return static_cast<Number>(n - i); }), "backwards");
    expectSorted(made(n, [&](int64_t) { return largest; }), "the largest alone");
    expectSorted(made(n, [&](int64_t) { return static_cast<Number>(largest - random() % 2); }),
                 "the two largest");
  }
}

TEST(VectorSort, Sorts) {
  expectAllSorted<uint32_t>();
  expectAllSorted<uint64_t>();
}

/// All numbers that the first pivot is chosen from are among the least ones.
TEST(VectorSort, ABadPivotCostsTimeAlone) {
  constexpr int64_t count = 1 << 16, distance = count / 16;
  std::vector<uint32_t> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] =
        static_cast<uint32_t>(i % distance == distance / 2 ? i / distance : count - i + 100);
  expectSorted(std::move(numbers), "bad pivots");
}

} // namespace
