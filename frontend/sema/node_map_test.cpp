#include "frontend/base/arena.h"
#include "frontend/sema/node_map.h"

#include <gtest/gtest.h>
#include <string>

namespace ptl {
namespace {

TEST(NodeMap, findsWhatWasSetInOrder) {
  NodeMap<int> map;
  EXPECT_EQ(map.find(7), map.end());
  for (NodeId node = 0; node < 1000; ++node)
    map[node * 64] = static_cast<int>(node);
  map[64] = -1;
  EXPECT_EQ(map.size(), 1000u);
  EXPECT_EQ(map.find(64)->second, -1);
  EXPECT_EQ(map.find(999 * 64)->second, 999);
  EXPECT_FALSE(map.contains(65));
  NodeId last = 0;
  for (const auto &[node, value] : map) {
    EXPECT_GE(node, last);
    last = node;
  }
}

TEST(Arena, destroysTheYoungestFirst) {
  std::string order;
  struct Tracked {
    std::string &order;
    char name;
    std::string text = std::string(100, 'x');
    Tracked(std::string &order, char name) : order(order), name(name) {}
    ~Tracked() { order += name; }
  };
  {
    Arena arena;
    Tracked *first = arena.make<Tracked>(order, 'a');
    for (int i = 0; i < 1000; ++i)
      *arena.make<int>() = i;
    arena.make<Tracked>(order, 'b');
    struct Big {
      char bytes[1 << 20] = {};
    };
    arena.make<Big>();
    EXPECT_EQ(first->text.size(), 100u);
  }
  EXPECT_EQ(order, "ba");
}

} // namespace
} // namespace ptl
