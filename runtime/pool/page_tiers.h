// The tiers of a pool: pages in the memory of this process, and in files that all processes of a machine share.
#pragma once

#include "runtime/pool/page_pool.h"

#include <memory>

namespace ptl::pool {

/// Pages in memory, with the order of eviction of `PagePool`.
class MemoryPages {
public:
  explicit MemoryPages(PoolShape shape);
  bool put(Key key, Key parent, std::span<const uint8_t> page);
  bool get(Key key, std::span<uint8_t> page);

private:
  PoolShape shape_;
  PageIndex index_;
  std::vector<std::vector<uint8_t>> pages_; ///< by slot
};

struct TierCounts {
  uint64_t inMemory = 0, onDisk = 0, missing = 0;
};

/// Either tier may be absent. Stored pages go to both, pages found on disk are added to memory, and
/// pages found in memory also count as used on disk.
class PageTiers {
public:
  PageTiers(std::unique_ptr<MemoryPages> memory, std::unique_ptr<PagePool> disk)
      : memory_(std::move(memory)), disk_(std::move(disk)) {}

  bool put(Key key, Key parent, std::span<const uint8_t> page);
  bool get(Key key, Key parent, std::span<uint8_t> page);
  /// The page was found elsewhere.
  void use(Key key) {
    if (disk_)
      disk_->use(key);
  }
  const TierCounts &counts() const { return counts_; }

private:
  std::unique_ptr<MemoryPages> memory_;
  std::unique_ptr<PagePool> disk_;
  TierCounts counts_;
};

} // namespace ptl::pool
