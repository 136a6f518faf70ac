#include "runtime/arena.h"

#include <algorithm>
#include <cstdlib>

namespace ptl::rt {
namespace {

constexpr int64_t kFirstBlock = int64_t(1) << 20;
// Above this the arena hands its largest blocks back to the system once it is empty.
constexpr int64_t kKeptWhenEmpty = int64_t(256) << 20;
constexpr int64_t kLargestRequest = int64_t(1) << 46;

} // namespace

void *allocateAligned(int64_t bytes) {
  if (bytes < 0 || bytes > kLargestRequest)
    return nullptr;
  return std::aligned_alloc(PTL_RT_ALIGNMENT, alignedBytes(std::max<int64_t>(bytes, 1)));
}

Arena::~Arena() {
  for (Block &block : blocks_)
    std::free(block.memory);
}

Arena &Arena::ofThread() {
  static thread_local Arena arena;
  return arena;
}

bool Arena::enterBlockFor(int64_t bytes) {
  // Blocks above the current one are empty: skip none that fits, replace those that do not.
  size_t candidate = blocks_.empty() ? 0 : block_ + (used_ > 0 ? 1 : 0);
  if (candidate >= blocks_.size() || blocks_[candidate].size < bytes) {
    while (blocks_.size() > candidate) {
      std::free(blocks_.back().memory);
      blocks_.pop_back();
    }
    int64_t base = blocks_.empty() ? 0 : blocks_.back().base + blocks_.back().size;
    int64_t size = std::max(bytes, blocks_.empty() ? kFirstBlock : blocks_.back().size * 2);
    char *memory = static_cast<char *>(allocateAligned(size));
    // Blocks double so that there are few of them; where that much is not to be had, what was asked
    // for will do.
    if (!memory && size > bytes)
      memory = static_cast<char *>(allocateAligned(size = bytes));
    if (!memory) {
      // The arena may have lost the block it stood at the start of.
      if (block_ >= blocks_.size() && !blocks_.empty()) {
        block_ = blocks_.size() - 1;
        used_ = blocks_.back().size;
      }
      return false;
    }
    blocks_.push_back({memory, size, base});
  }
  block_ = candidate;
  used_ = 0;
  return true;
}

void *Arena::allocate(int64_t bytes) {
  if (bytes < 0 || bytes > kLargestRequest)
    return nullptr;
  bytes = alignedBytes(std::max<int64_t>(bytes, 1));
  bool fits = block_ < blocks_.size() && blocks_[block_].size - used_ >= bytes;
  if (!fits && !enterBlockFor(bytes))
    return nullptr;
  char *memory = blocks_[block_].memory + used_;
  used_ += bytes;
  return memory;
}

void Arena::release(int64_t mark) {
  while (block_ > 0 && blocks_[block_].base > mark)
    --block_;
  if (blocks_.empty())
    return;
  used_ = mark - blocks_[block_].base;
  // Blocks are given back when nothing is in use any more, so that a function that is called in a
  // loop does not take and give back the same one.
  if (mark != 0)
    return;
  while (blocks_.size() > 1 && blocks_.back().base + blocks_.back().size > kKeptWhenEmpty) {
    std::free(blocks_.back().memory);
    blocks_.pop_back();
  }
}

} // namespace ptl::rt
