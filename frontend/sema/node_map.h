// A hash map keyed by syntax nodes, for tables with an entry for most nodes of a declaration.
#pragma once

#include "frontend/syntax/tree.h"

#include <utility>
#include <vector>

namespace ptl {

/// Iterates in order of insertion. Pointers to entries are valid until the next insertion.
template <typename T> class NodeMap {
public:
  using Entry = std::pair<NodeId, T>;

  T &operator[](NodeId node) {
    if (entries_.size() * 2 >= slots_.size())
      grow();
    uint32_t &slot = slots_[slotOf(node)];
    if (slot == 0) {
      entries_.emplace_back(node, T());
      slot = static_cast<uint32_t>(entries_.size());
    }
    return entries_[slot - 1].second;
  }
  auto find(NodeId node) const {
    uint32_t slot = slots_.empty() ? 0 : slots_[slotOf(node)];
    return slot == 0 ? end() : begin() + (slot - 1);
  }
  bool contains(NodeId node) const { return find(node) != end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

private:
  size_t slotOf(NodeId node) const {
    size_t at = node * 0x9e3779b1u & (slots_.size() - 1);
    while (slots_[at] != 0 && entries_[slots_[at] - 1].first != node)
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 4, 0);
    for (size_t i = 0; i < entries_.size(); ++i)
      slots_[slotOf(entries_[i].first)] = static_cast<uint32_t>(i + 1);
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_; ///< number of the entry and 1; as many as a power of 2
};

} // namespace ptl
