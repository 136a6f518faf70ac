// Memory for what a rank receives and adds while a movement is underway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptl::movement {

/// Memory that is kept from one movement to the next: filling fresh pages with zeros takes the system longer than most
/// movements take. Large pieces lie in large pages, between which processes copy three times as fast.
class WorkMemory {
public:
  WorkMemory() = default;
  ~WorkMemory();
  WorkMemory(const WorkMemory &) = delete;
  WorkMemory &operator=(const WorkMemory &) = delete;

  /// So many bytes, not initialised, at a multiple of 64 bytes. Throws `std::bad_alloc` if there is no memory.
  uint8_t *take(size_t bytes);
  /// Ends the use of all that was taken.
  void release();

private:
  struct Block {
    uint8_t *memory;
    size_t size, used;
  };
  static Block made(size_t bytes);

  std::vector<Block> blocks_;
  size_t taken_ = 0; ///< how many pieces since `release`
};

} // namespace ptl::movement
