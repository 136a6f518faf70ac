// Wakes a rank of the same machine that sleeps until another one has done something.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ptl::ranks {

/// In memory that all ranks of a machine see; zeros at first. The rank that sleeps says so with `listen`, looks once
/// more at what it waits for, and sleeps: what has happened in between ends the sleep at once.
///
/// Whoever rings has to see that the rank listens, or the rank what has been done. That takes a fence on both sides, or one that
/// the rank that listens makes all others pass. Many ring, few listen, and a fence takes as long as a small message.
class Doorbell {
public:
  /// Lets other processes make this one pass a fence; whether they can.
  static bool takeFences() {
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
  }
  /// For the rank that sleeps, before it listens: all ranks that ring its bell take fences.
  void fenceOthers() { fencesOthers_.store(1, std::memory_order_seq_cst); }

  /// From here on `ring` ends the next sleep. What was done before is seen afterwards.
  uint32_t listen() {
    uint32_t heard = rung_.load(std::memory_order_acquire);
    isListening_.store(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (fencesOthers_.load(std::memory_order_relaxed))
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    return heard;
  }
  /// Sleeps until somebody has rung since `listen` returned `heard`, or some time is over. Whether somebody has.
  bool sleep(uint32_t heard, long nanoseconds) {
    timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    ::syscall(SYS_futex, &rung_, FUTEX_WAIT, heard, &limit, nullptr, 0);
    return rung_.load(std::memory_order_relaxed) != heard;
  }
  void ignore() { isListening_.store(0, std::memory_order_relaxed); }

  /// Wakes the rank if it listens, after something that it may wait for has been done.
  void ring() {
    if (fencesOthers_.load(std::memory_order_relaxed))
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      std::atomic_thread_fence(std::memory_order_seq_cst);
    if (isListening_.load(std::memory_order_relaxed) == 0 || isListening_.exchange(0) == 0)
      return;
    rung_.fetch_add(1, std::memory_order_release);
    ::syscall(SYS_futex, &rung_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

private:
  alignas(64) std::atomic<uint32_t> rung_;
  std::atomic<uint32_t> isListening_, fencesOthers_;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

} // namespace ptl::ranks
