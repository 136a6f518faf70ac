#pragma once

#include "runtime/abi/kernel_abi.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptl::rt {

/// Stack-like memory of one thread. Blocks never move while in use; released memory is kept and
/// reused, so that a loop that runs often stops asking the system for memory.
class Arena {
public:
  Arena() = default;
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// `bytes` >= 0 bytes aligned to PTL_RT_ALIGNMENT, not initialised; nullptr when memory runs out.
  void *allocate(int64_t bytes);

  /// The present height, and a return to it: memory allocated since then is released.
  int64_t mark() const { return block_ < blocks_.size() ? blocks_[block_].base + used_ : 0; }
  void release(int64_t mark);

  /// The arena of the calling thread.
  static Arena &ofThread();

private:
  struct Block {
    char *memory;
    int64_t size;
    int64_t base; // sum of the sizes of the blocks before
  };

  bool enterBlockFor(int64_t bytes);

  std::vector<Block> blocks_;
  size_t block_ = 0;
  int64_t used_ = 0;
};

/// `bytes` >= 0, rounded up to a multiple of PTL_RT_ALIGNMENT.
constexpr int64_t alignedBytes(int64_t bytes) {
  return (bytes + PTL_RT_ALIGNMENT - 1) / PTL_RT_ALIGNMENT * PTL_RT_ALIGNMENT;
}

/// PTL_RT_ALIGNMENT-aligned memory from the system, nullptr if there is none; zero bytes give a
/// valid address. Freed with `std::free`.
void *allocateAligned(int64_t bytes);

} // namespace ptl::rt
