// Helpers shared by the tests of pools: pages by key, and a simple model of the eviction order.
#pragma once

#include "runtime/pool/page_pool.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace ptl::pool {

inline constexpr uint32_t kPage = 96;

/// The contents of a page, which follow from its key.
inline std::vector<uint8_t> pageOf(Key key) {
  std::vector<uint8_t> page(kPage);
  std::mt19937_64 dice(key.high * 1000003 + key.low);
  for (uint8_t &byte : page)
    byte = static_cast<uint8_t>(dice());
  return page;
}

/// The model: a list in which a used page moves to the front, with its ancestors behind it, and the
/// last page is evicted.
class Model {
public:
  explicit Model(size_t room) : room_(room) {}
  bool has(Key key) const { return std::ranges::find(ages_, key) != ages_.end(); }
  void use(Key key) {
    for (; has(key); key = parents_[key]) {
      std::erase(ages_, key);
      ages_.insert(ages_.begin(), key);
    }
  }
  bool put(Key key, Key parent) {
    if (has(key)) {
      use(key);
      return true;
    }
    if (parent != kNoKey && !has(parent))
      return false;
    std::set<Key> stays;
    for (Key each = parent; has(each); each = parents_[each])
      stays.insert(each);
    if (ages_.size() == room_) {
      auto last = std::find_if(ages_.rbegin(), ages_.rend(),
                               [&](Key each) { return !stays.contains(each); });
      if (last == ages_.rend())
        return false;
      ages_.erase(std::next(last).base());
    }
    parents_[key] = parent;
    ages_.insert(ages_.begin(), key);
    use(parent);
    return true;
  }
  const std::vector<Key> &keys() const { return ages_; }

private:
  size_t room_;
  std::vector<Key> ages_;
  std::map<Key, Key> parents_;
};

} // namespace ptl::pool
