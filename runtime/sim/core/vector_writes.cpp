#include "runtime/sim/core/vector_writes.h"

#include <algorithm>

namespace ptl::rt::sim {

void VectorWrites::publish(std::mt19937_64 *random) {
  // Only fresh writes are committed: what has been published may have been overwritten since.
  std::vector<Entry *> fresh;
  for (Entry &entry : unsettled_)
    if (!entry.isPublished)
      fresh.push_back(&entry);
  if (random)
    std::shuffle(fresh.begin(), fresh.end(), *random);
  for (Entry *entry : fresh) {
    entry->writes.commit();
    entry->isPublished = true;
  }
}

void VectorWrites::settle(std::mt19937_64 *random) {
  publish(random);
  unsettled_.clear();
}

void VectorWrites::settleUpTo(uint64_t count) {
  std::erase_if(unsettled_,
                [&](const Entry &entry) { return entry.isPublished && entry.number <= count; });
}

void VectorWrites::hide() {
  // Writes may overlap, so the last to be seen is the first to be taken back.
  for (auto entry = unsettled_.rbegin(); entry != unsettled_.rend(); ++entry)
    if (entry->isPublished)
      entry->writes.hide();
}

void VectorWrites::reveal() const {
  for (const Entry &entry : unsettled_)
    if (entry.isPublished)
      entry.writes.reveal();
}

} // namespace ptl::rt::sim
