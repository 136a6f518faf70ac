#pragma once

#include "runtime/graph/task.h"

#include <utility>
#include <vector>

namespace ptl::rt {

/// Finds the storages of a running program by the addresses of their memory. It is a hash table
/// with open addressing that needs no tombstones for removed entries.
class StorageTable {
public:
  struct Entry {
    int64_t address = 0; ///< 0: the slot is free
    StorageId id = 0;
    uint32_t rank = 0;
  };

  StorageTable() : entries_(32) {}

  const Entry *find(int64_t address) const {
    const Entry &entry = entries_[placeOf(address)];
    return entry.address == address ? &entry : nullptr;
  }
  /// Adds an address. Precondition: it is not 0, and not in the table.
  const Entry &add(const Entry &entry) {
    if (2 * ++size_ > entries_.size())
      grow();
    return entries_[placeOf(entry.address)] = entry;
  }
  void remove(int64_t address);

  template <class Visit> void forEach(Visit visit) const {
    for (const Entry &entry : entries_)
      if (entry.address != 0)
        visit(entry);
  }

private:
  size_t homeOf(int64_t address) const {
    uint64_t hash = static_cast<uint64_t>(address) * 0x9e3779b97f4a7c15u;
    return (hash >> 32) & (entries_.size() - 1);
  }
  size_t placeOf(int64_t address) const {
    size_t at = homeOf(address);
    while (entries_[at].address != 0 && entries_[at].address != address)
      at = (at + 1) & (entries_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    for (const Entry &entry : old)
      if (entry.address != 0)
        entries_[placeOf(entry.address)] = entry;
  }

  std::vector<Entry> entries_;
  size_t size_ = 0;
};

/// Entries after the gap move into it unless that would put them before their home slot, so that
/// searches never end early at the gap.
inline void StorageTable::remove(int64_t address) {
  size_t mask = entries_.size() - 1, gap = placeOf(address);
  if (entries_[gap].address != address)
    return;
  --size_;
  for (size_t at = (gap + 1) & mask; entries_[at].address != 0; at = (at + 1) & mask)
    if (((at - homeOf(entries_[at].address)) & mask) >= ((at - gap) & mask))
      entries_[std::exchange(gap, at)] = entries_[at];
  entries_[gap] = {};
}

} // namespace ptl::rt
