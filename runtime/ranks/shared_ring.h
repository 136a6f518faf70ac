// A stream of bytes from one rank to another through shared memory. Neither side blocks: data that
// do not fit, or have not arrived, are left for a later call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

namespace ptl::ranks {

/// The state that both sides share; initially zero. The bytes of the ring follow it.
struct RingHead {
  alignas(64) std::atomic<uint64_t> written; ///< total bytes
  std::atomic<uint64_t> begin;               ///< the position of what lies at the beginning
  alignas(64) std::atomic<uint64_t> read;
  std::atomic<uint64_t> fetched; ///< messages that the reader has fetched from where they lie, ever
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// One side of a ring of `capacity` bytes. If the reader keeps up, all bytes go through its beginning: there they stay in a
/// cache, while a page that is used for the first time costs more than most messages.
class SharedRing {
public:
  SharedRing() = default;
  SharedRing(void *memory, size_t capacity)
      : head_(static_cast<RingHead *>(memory)), bytes_(static_cast<char *>(memory) + sizeof *head_),
        capacity_(capacity) {}

  explicit operator bool() const { return head_ != nullptr; }

  std::pair<void *, size_t> memory() const { return {head_, sizeof *head_ + capacity_}; }

  /// What is used if the reader keeps up with messages that are smaller.
  static constexpr size_t kUsedFirst = 8 << 10;

  /// For so many bytes there is room.
  size_t room() {
    other_ = head_->read.load(std::memory_order_acquire);
    return static_cast<size_t>(capacity_ -
                               (head_->written.load(std::memory_order_relaxed) - other_));
  }

  /// Writes as much as there is room for, up to `size`; so many bytes. `give(to, count)` writes the next ones.
  template <typename Give> size_t writeBy(size_t size, Give give) {
    uint64_t written = head_->written.load(std::memory_order_relaxed);
    bool isBehindFirst = written - begin_ >= kUsedFirst;
    if (isBehindFirst || capacity_ - (written - other_) < size)
      other_ = head_->read.load(std::memory_order_acquire);
    // The reader sees where the next bytes lie when it sees them, and needs no others.
    if (isBehindFirst && other_ == written)
      head_->begin.store(begin_ = written, std::memory_order_relaxed);
    size = std::min(size, static_cast<size_t>(capacity_ - (written - other_)));
    if (size == 0)
      return 0;
    forBytes(written, size, give);
    head_->written.store(written + size, std::memory_order_release);
    return size;
  }
  size_t write(const char *from, size_t size) {
    return writeBy(size, [&](char *to, size_t count) {
      std::memcpy(to, from, count);
      from += count;
    });
  }

  /// Reads as much as there is, up to `size`; so many bytes. `take(from, count)` reads the next ones.
  template <typename Take> size_t readBy(size_t size, Take take) {
    uint64_t read = head_->read.load(std::memory_order_relaxed);
    if (other_ - read < size) {
      other_ = head_->written.load(std::memory_order_acquire);
      begin_ = head_->begin.load(std::memory_order_relaxed);
    }
    size = std::min(size, static_cast<size_t>(other_ - read));
    if (size == 0)
      return 0;
    forBytes(read, size, take);
    head_->read.store(read + size, std::memory_order_release);
    return size;
  }
  size_t read(char *to, size_t size) {
    return readBy(size, [&](const char *from, size_t count) {
      std::memcpy(to, from, count);
      to += count;
    });
  }

  /// Messages that do not go through the ring: the reader says that it has fetched one, the writer how many it has.
  void hasFetched() { head_->fetched.fetch_add(1, std::memory_order_release); }
  uint64_t fetched() const { return head_->fetched.load(std::memory_order_acquire); }

private:
  /// Calls `each(bytes, count)` for the bytes from `position` on: twice if they go past the end of the ring.
  template <typename Each> void forBytes(uint64_t position, size_t size, Each &each) {
    size_t at = static_cast<size_t>((position - begin_) % capacity_),
           first = std::min(size, capacity_ - at);
    each(bytes_ + at, first);
    if (size > first)
      each(bytes_, size - first);
  }

  RingHead *head_ = nullptr;
  char *bytes_ = nullptr;
  size_t capacity_ = 0;
  uint64_t other_ = 0; ///< the other side's progress when this side last looked
  uint64_t begin_ = 0; ///< as in the head
};

} // namespace ptl::ranks
