// A stream of bytes from one rank to another through shared memory. Neither side blocks: data that
// do not fit, or have not arrived, are left for a later call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace ptl::ranks {

/// The state that both sides share; initially zero. The bytes of the ring follow it.
struct RingHead {
  alignas(64) std::atomic<uint64_t> written; ///< total bytes
  alignas(64) std::atomic<uint64_t> read;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// One side of a ring of `capacity` bytes.
class SharedRing {
public:
  SharedRing() = default;
  SharedRing(void *memory, size_t capacity)
      : head_(static_cast<RingHead *>(memory)), bytes_(static_cast<char *>(memory) + sizeof *head_),
        capacity_(capacity) {}

  explicit operator bool() const { return head_ != nullptr; }

  /// Writes as many bytes as fit; returns their number.
  size_t write(const char *from, size_t size) {
    uint64_t written = head_->written.load(std::memory_order_relaxed);
    if (capacity_ - (written - other_) < size)
      other_ = head_->read.load(std::memory_order_acquire);
    size = std::min(size, static_cast<size_t>(capacity_ - (written - other_)));
    size_t at = static_cast<size_t>(written % capacity_), first = std::min(size, capacity_ - at);
    std::memcpy(bytes_ + at, from, first);
    std::memcpy(bytes_, from + first, size - first);
    if (size > 0)
      head_->written.store(written + size, std::memory_order_release);
    return size;
  }

  /// Reads as many bytes as are available, up to `size`; returns their number.
  size_t read(char *to, size_t size) {
    uint64_t read = head_->read.load(std::memory_order_relaxed);
    if (other_ - read < size)
      other_ = head_->written.load(std::memory_order_acquire);
    size = std::min(size, static_cast<size_t>(other_ - read));
    size_t at = static_cast<size_t>(read % capacity_), first = std::min(size, capacity_ - at);
    std::memcpy(to, bytes_ + at, first);
    std::memcpy(to + first, bytes_, size - first);
    if (size > 0)
      head_->read.store(read + size, std::memory_order_release);
    return size;
  }

private:
  RingHead *head_ = nullptr;
  char *bytes_ = nullptr;
  size_t capacity_ = 0;
  uint64_t other_ = 0; ///< the other side's progress when this side last looked
};

} // namespace ptl::ranks
