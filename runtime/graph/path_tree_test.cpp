#include "runtime/graph/path_tree.h"

#include <gtest/gtest.h>

using namespace ptl::rt;

namespace {

constexpr auto task = PathTree::Kind::Task;

/// One access of one element.
struct Element {
  Axis axis;
  Access access;
  Element(StorageId storage, AccessMode mode, int64_t at)
      : axis{at, 1, 1}, access{storage, mode, {&axis, 1}} {}
  std::span<const Access> all() const { return {&access, 1}; }
};

} // namespace

TEST(PathTree, AStepIsWhatItAccessesAtItsPlace) {
  PathTree tree;
  Element first(0, AccessMode::Write, 3), other(0, AccessMode::Write, 4);
  EXPECT_EQ(tree.find(tree.start(), task, first.all()), nullptr);
  PathTree::Step *a = tree.add(tree.start(), task, first.all(), {});
  TaskId waits[] = {0};
  PathTree::Step *b = tree.add(a, task, first.all(), waits);
  EXPECT_EQ(tree.find(tree.start(), task, first.all()), a);
  EXPECT_EQ(tree.find(a, task, first.all()), b);
  EXPECT_EQ(b->after().size(), 1u);
  EXPECT_EQ(b->previous(), a);
  EXPECT_EQ(b->accesses().front().box.front(), (Axis{3, 1, 1}));
  EXPECT_EQ(tree.find(a, task, other.all()), nullptr);
  EXPECT_EQ(tree.find(a, PathTree::Kind::Await, first.all()), nullptr);
  EXPECT_EQ(tree.find(a, task, Element(0, AccessMode::Read, 3).all()), nullptr);
  EXPECT_EQ(tree.find(a, task, Element(1, AccessMode::Write, 3).all()), nullptr);
  PathTree::Step *c = tree.add(a, task, other.all(), waits);
  EXPECT_EQ(tree.find(a, task, first.all()), b);
  EXPECT_EQ(tree.find(a, task, other.all()), c);
}

TEST(PathTree, GrowsEverMoreRarelyWhereRunsDiffer) {
  PathTree tree;
  std::vector<int> grew;
  for (int run = 1; run <= 20; ++run)
    if (tree.shouldGrow())
      grew.push_back(run);
  EXPECT_EQ(grew, (std::vector<int>{2, 4, 8, 16}));
  tree.noteFollowed();
  EXPECT_FALSE(tree.shouldGrow());
  EXPECT_TRUE(tree.shouldGrow());
}

TEST(PathTree, HasABound) {
  PathTree tree;
  PathTree::Step *at = tree.start();
  size_t steps = 0;
  for (; at; ++steps)
    at = tree.add(at, task, Element(0, AccessMode::Write, 1).all(), {});
  EXPECT_GT(steps, 10000u);
  EXPECT_LT(steps, 1000000u);
  EXPECT_LT(tree.bytes(), int64_t(17) << 20);
}
