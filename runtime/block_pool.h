#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace ptl::rt {

/// Keeps large blocks of memory between uses. Without it a program that runs often would request
/// its intermediates from the system each time, and take a page fault for every page.
class BlockPool {
public:
  /// Returns PTL_RT_ALIGNMENT-aligned memory of at least `bytes` >= 0, and its size in `capacity`;
  /// nullptr if there is none. Thread-safe.
  void *take(int64_t bytes, int64_t &capacity);
  void giveBack(void *memory, int64_t capacity);

  static BlockPool &shared();

private:
  struct Block {
    void *memory;
    int64_t capacity;
  };
  std::mutex mutex_;
  std::vector<Block> blocks_; ///< the oldest first
  int64_t kept_ = 0;
};

} // namespace ptl::rt
