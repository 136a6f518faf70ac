#include "runtime/pool/spread_pages.h"

#include <algorithm>

namespace ptl::pool {

SpreadPages::SpreadPages(uint32_t parts, uint32_t slotsOfEach) : parts_(parts) {
  // Slots go round the parts, so that as many lie with each. They are numbered in 32 bits, and as many for each part fit those.
  index_.clear(static_cast<uint32_t>(
      std::min<uint64_t>(uint64_t(parts) * slotsOfEach, UINT32_MAX / parts * uint64_t(parts))));
}

std::optional<uint32_t> SpreadPages::use(Key key) {
  const PageIndex::Entry *entry = index_.find(key);
  if (!entry)
    return std::nullopt;
  index_.touch(key);
  return partOf(*entry);
}

std::optional<uint32_t> SpreadPages::reserve(Key key, Key parent) {
  if (std::optional<uint32_t> part = use(key))
    return part;
  if (parent != kNoKey && !index_.find(parent))
    return std::nullopt;
  if (!index_.freeSlot()) {
    std::optional<Key> leaving = index_.leaving(parent);
    if (!leaving)
      return std::nullopt;
    index_.remove(*leaving);
  }
  uint32_t slot = *index_.freeSlot();
  // The blocks that an earlier page has left in the slot are none of this one.
  bytes_.erase(bytes_.lower_bound({slot, 0}), bytes_.upper_bound({slot, UINT32_MAX}));
  index_.insert(key, {parent, slot, 0, {}});
  return slot % parts_;
}

void SpreadPages::write(Key key, uint32_t block, std::vector<uint8_t> bytes) {
  if (const PageIndex::Entry *entry = index_.find(key))
    bytes_[{entry->slot, block}] = std::move(bytes);
}

std::span<const uint8_t> SpreadPages::read(Key key, uint32_t block) const {
  const PageIndex::Entry *entry = index_.find(key);
  auto found = entry ? bytes_.find({entry->slot, block}) : bytes_.end();
  if (found == bytes_.end())
    return {};
  return found->second;
}

} // namespace ptl::pool
