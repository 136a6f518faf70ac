#include "runtime/pool/page_tiers.h"

#include <algorithm>

namespace ptl::pool {

MemoryPages::MemoryPages(PoolShape shape) : shape_(shape) { index_.clear(shape.slots); }

bool MemoryPages::put(Key key, Key parent, std::span<const uint8_t> page) {
  if (index_.find(key)) {
    index_.touch(key);
    return true;
  }
  if (page.size() != shape_.pageBytes || (parent != kNoKey && !index_.find(parent)))
    return false;
  if (!index_.freeSlot()) {
    std::optional<Key> leaving = index_.leaving(parent);
    if (!leaving)
      return false;
    index_.remove(*leaving);
  }
  uint32_t slot = *index_.freeSlot();
  pages_.resize(std::max<size_t>(pages_.size(), slot + size_t(1)));
  pages_[slot].assign(page.begin(), page.end());
  index_.insert(key, {parent, slot, 0, {}});
  return true;
}

bool MemoryPages::get(Key key, std::span<uint8_t> page) {
  const PageIndex::Entry *entry = index_.find(key);
  if (!entry)
    return false;
  std::ranges::copy(pages_[entry->slot], page.begin());
  index_.touch(key);
  return true;
}

bool PageTiers::put(Key key, Key parent, std::span<const uint8_t> page) {
  // Both tiers are asked, since either may have no room or lack the page before this one.
  bool onDisk = disk_ && disk_->put(key, parent, page);
  bool inMemory = memory_ && memory_->put(key, parent, page);
  return onDisk || inMemory;
}

bool PageTiers::get(Key key, Key parent, std::span<uint8_t> page) {
  if (memory_ && memory_->get(key, page)) {
    ++counts_.inMemory;
    // What is read from memory counts as used on the disk, too, which would else evict it first.
    if (disk_)
      disk_->use(key);
    return true;
  }
  if (disk_ && disk_->get(key, page)) {
    ++counts_.onDisk;
    if (memory_)
      memory_->put(key, parent, page);
    return true;
  }
  ++counts_.missing;
  return false;
}

} // namespace ptl::pool
