#include "lsp/worker/cache.h"

#include <algorithm>

namespace ptl::worker {

Code *Cache::find(const std::string &key) {
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry &entry) { return entry.key == key; });
  ++(found == entries_.end() ? misses : hits);
  if (found == entries_.end())
    return nullptr;
  entries_.splice(entries_.end(), entries_, found);
  return entries_.back().code.get();
}

Code *Cache::add(std::string key, std::unique_ptr<Code> code) {
  entries_.push_back({std::move(key), std::move(code)});
  return entries_.back().code.get();
}

void Cache::remove(const Code *code) {
  entries_.remove_if([&](const Entry &entry) { return entry.code.get() == code; });
}

size_t Cache::bytes() const {
  size_t total = 0;
  for (const Entry &entry : entries_)
    total += entry.key.size() + entry.code->bytes();
  return total;
}

size_t Cache::liveCount() const {
  return static_cast<size_t>(
      std::count_if(entries_.begin(), entries_.end(),
                    [](const Entry &entry) { return !entry.code->isSettled(); }));
}

void Cache::trim() {
  size_t live = 0;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
    if (!entry->code->isSettled() && ++live > kLive)
      entry->code->settle();
  while (entries_.size() > 1 && (entries_.size() > kEntries || bytes() > capacity_))
    entries_.pop_front();
}

} // namespace ptl::worker
