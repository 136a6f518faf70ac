#include "runtime/block_pool.h"

#include "runtime/arena.h"

#include <cstddef>
#include <cstdlib>

namespace ptl::rt {
namespace {

// Smaller blocks are left to the C library.
constexpr int64_t kSmallest = 4096;
constexpr int64_t kMostKept = int64_t(256) << 20;
constexpr size_t kMostBlocks = 64;

int64_t mostFor(int64_t bytes) { return bytes + bytes / 4; }

} // namespace

void *BlockPool::take(int64_t bytes, int64_t &capacity) {
  capacity = bytes;
  if (bytes < kSmallest)
    return allocateAligned(bytes);
  {
    std::lock_guard lock(mutex_);
    // The smallest block that fits is taken, and none that is far too large, which would keep its
    // memory from larger requests.
    size_t best = blocks_.size();
    for (size_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].capacity >= bytes && blocks_[i].capacity <= mostFor(bytes) &&
          (best == blocks_.size() || blocks_[i].capacity < blocks_[best].capacity))
        best = i;
    if (best != blocks_.size()) {
      Block found = blocks_[best];
      blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(best));
      kept_ -= found.capacity;
      capacity = found.capacity;
      return found.memory;
    }
  }
  return allocateAligned(bytes);
}

void BlockPool::giveBack(void *memory, int64_t capacity) {
  // A block that is larger than all that may be kept would only displace the others.
  if (capacity < kSmallest || capacity > kMostKept)
    return std::free(memory);
  std::vector<Block> dropped;
  {
    std::lock_guard lock(mutex_);
    blocks_.push_back({memory, capacity});
    kept_ += capacity;
    // The oldest blocks go first: what was given back lately is asked for again, and still in a
    // cache.
    while (kept_ > kMostKept || blocks_.size() > kMostBlocks) {
      dropped.push_back(blocks_.front());
      kept_ -= blocks_.front().capacity;
      blocks_.erase(blocks_.begin());
    }
  }
  // Freeing may enter the kernel, so it happens outside of the lock.
  for (const Block &block : dropped)
    std::free(block.memory);
}

BlockPool &BlockPool::shared() {
  // Never destroyed: programs may run while the process exits.
  static BlockPool *pool = new BlockPool;
  return *pool;
}

} // namespace ptl::rt
