#include "runtime/pool/page_index.h"

#include <algorithm>

namespace ptl::pool {

void PageIndex::clear(uint32_t slots) {
  entries_.clear();
  ages_.clear();
  freeSlots_.clear();
  slots_ = slots;
  fresh_ = 0;
}

const PageIndex::Entry *PageIndex::find(Key key) const {
  auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

/// Ancestors are used after what was asked for, so that a page is never older than its children, and the
/// oldest one has none.
void PageIndex::touch(Key key) {
  for (auto found = entries_.find(key); found != entries_.end();
       found = entries_.find(found->second.parent))
    ages_.splice(ages_.begin(), ages_, found->second.age);
}

void PageIndex::insert(Key key, const Entry &entry) {
  remove(key);
  // A log may name slots in any order: those that it has passed over are free.
  for (; fresh_ <= entry.slot && fresh_ < slots_; ++fresh_)
    freeSlots_.push_back(fresh_);
  if (!freeSlots_.empty() && freeSlots_.back() == entry.slot)
    freeSlots_.pop_back(); // as the one who wrote it took it
  else
    std::erase(freeSlots_, entry.slot);
  ages_.push_front(key);
  Entry &made = entries_[key] = entry;
  made.age = ages_.begin();
  touch(entry.parent);
}

void PageIndex::remove(Key key) {
  auto found = entries_.find(key);
  if (found == entries_.end())
    return;
  // The slot that became free last is taken first, as all processes do that read the same log.
  freeSlots_.push_back(found->second.slot);
  ages_.erase(found->second.age);
  entries_.erase(found);
}

std::optional<uint32_t> PageIndex::freeSlot() const {
  if (!freeSlots_.empty())
    return freeSlots_.back();
  // Slots that nobody has used yet need no list; their number is enough.
  return fresh_ < slots_ ? std::optional(fresh_) : std::nullopt;
}

bool PageIndex::isAncestor(Key key, Key of) const {
  for (auto found = entries_.find(of); found != entries_.end();
       found = entries_.find(found->second.parent))
    if (found->first == key)
      return true;
  return false;
}

std::optional<Key> PageIndex::leaving(Key parent) const {
  for (auto key = ages_.rbegin(); key != ages_.rend(); ++key)
    if (!isAncestor(*key, parent))
      return *key;
  return std::nullopt;
}

std::vector<Key> PageIndex::withDescendants(Key key) const {
  std::vector<Key> all;
  // A child is older than its parents.
  for (auto each = ages_.rbegin(); each != ages_.rend(); ++each)
    if (isAncestor(key, *each))
      all.push_back(*each);
  return all;
}

} // namespace ptl::pool
