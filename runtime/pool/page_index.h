// The index of pages: their slots, and the order of eviction: least recently used first, and no
// page before its children.
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ptl::pool {

/// The hash of everything that a page depends on, including its parent's key.
struct Key {
  uint64_t high = 0, low = 0;
  auto operator<=>(const Key &) const = default;
};
/// The parent of the first page of a chain.
inline constexpr Key kNoKey = {};

class PageIndex {
public:
  struct Entry {
    Key parent;
    uint32_t slot = 0, checksum = 0;
    std::list<Key>::iterator age;
  };

  /// Removes all pages and sets the number of slots.
  void clear(uint32_t slots);
  /// Null if there is no such page.
  const Entry *find(Key key) const;
  /// Records a use of the page. Its ancestors count as used after it, so that no page is older than
  /// its children.
  void touch(Key key);
  /// Adds a page as the most recently used one, in its slot. One with the same key is replaced.
  void insert(Key key, const Entry &entry);
  void remove(Key key);
  /// A free slot; nothing if all are occupied.
  std::optional<uint32_t> freeSlot() const;
  /// The page to evict for a child of `parent`: the oldest one that is not an ancestor of the
  /// child. Nothing if there is none.
  std::optional<Key> leaving(Key parent) const;
  /// A page and its descendants; removed in this order, no page loses its parent before itself.
  std::vector<Key> withDescendants(Key key) const;
  /// All pages, most recently used first.
  const std::list<Key> &ages() const { return ages_; }
  size_t size() const { return entries_.size(); }

private:
  struct KeyHash {
    size_t operator()(const Key &key) const { return static_cast<size_t>(key.high ^ key.low); }
  };
  bool isAncestor(Key key, Key of) const;

  std::unordered_map<Key, Entry, KeyHash> entries_;
  std::list<Key> ages_;
  std::vector<uint32_t> freeSlots_;
  uint32_t slots_ = 0, fresh_ = 0; ///< no slot from `fresh_` on was ever used
};

} // namespace ptl::pool
