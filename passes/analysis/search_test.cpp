#include "passes/analysis/search.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

/// Boxes are to go through a door: small ones if need be, one by one after that.
struct Boxes {
  int size = 8, together = 3;
  bool mayOpen = true;
  int width() const { return size * together; }
};

const Change<Boxes> changes[] = {
    {[](const Boxes &b) { return b.together > 1 && b.mayOpen; }, [](Boxes &b) { --b.together; },
     [](const Boxes &b) {
       return b.together < 3 ? std::to_string(b.together) + " at a time" : std::string();
     }},
    {[](const Boxes &b) { return b.size > 2; },
     [](Boxes &b) {
       b.size /= 2;
       b.together = 3;
     },
     [](const Boxes &b) {
       return b.size < 8 ? "boxes of " + std::to_string(b.size) : std::string();
     }},
};

using Texts = std::vector<std::string>;

/// Whether anything goes through a door of this width; how many were tried.
std::pair<bool, int> pass(Search<Boxes> &search, int door) {
  for (int attempts = 1;; ++attempts) {
    if (search.state.width() <= door)
      return {true, attempts};
    if (!search.next())
      return {false, attempts};
  }
}

TEST(Search, takesTheFirstChangeThatHelps) {
  Search<Boxes> search(changes, {});
  EXPECT_EQ(pass(search, 16), std::pair(true, 2));
  EXPECT_EQ(search.state.size, 8);
  EXPECT_EQ(search.tried(), Texts{"2 at a time"});
}

TEST(Search, triesNothingWhereTheFirstWayWorks) {
  Search<Boxes> search(changes, {});
  EXPECT_EQ(pass(search, 24), std::pair(true, 1));
  EXPECT_TRUE(search.tried().empty());
}

TEST(Search, laterChangesBeginEarlierOnesAnew) {
  Search<Boxes> search(changes, {});
  EXPECT_EQ(pass(search, 6), std::pair(true, 6)); // 24 16 8, then 12 8 4
  EXPECT_EQ(search.state.size, 4);
  EXPECT_EQ(search.state.together, 1);
}

TEST(Search, comesToAnEndAndTellsEachChangeOnce) {
  Search<Boxes> search(changes, {});
  EXPECT_EQ(pass(search, 1), std::pair(false, 9));
  EXPECT_EQ(search.tried(), (Texts{"1 at a time", "boxes of 2"}));
}

TEST(Search, whatCannotBeMadeWasNotTried) {
  Search<Boxes> search(changes, {});
  ASSERT_TRUE(search.next());
  EXPECT_EQ(search.state.together, 2);
  search.takeBack(); // the strap holds
  EXPECT_EQ(search.state.together, 3);
  EXPECT_TRUE(search.tried().empty());
  search.state.mayOpen = false;
  ASSERT_TRUE(search.next());
  EXPECT_EQ(search.state.size, 4);
  EXPECT_EQ(search.tried(), Texts{"boxes of 4"});
}

TEST(Search, tellsWhatItBeganWith) {
  Search<Boxes> search(changes, {4, 3, true});
  EXPECT_EQ(search.tried(), Texts{"boxes of 4"});
}

} // namespace
} // namespace ptl
