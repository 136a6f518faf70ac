#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace ptl::rt {

/// Where lanes without work wait: they look around for a while, then sleep. As long as one looks
/// around nobody needs to be woken, and one that finds something wakes the next.
class IdleGate {
public:
  /// There is new work. The push before was sequentially consistent.
  void announce() {
    if (sleepers_.load(std::memory_order_seq_cst) > 0 &&
        searchers_.load(std::memory_order_seq_cst) == 0)
      wakeOne();
  }

  /// Something that lanes wait for has come true.
  void wakeAll() {
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    epoch_.notify_all();
  }

  /// Calls `attempt` until it gives true.
  template <class Attempt> void waitUntil(Attempt attempt) {
    while (true) {
      searchers_.fetch_add(1, std::memory_order_seq_cst);
      for (int i = 0; i < looksBeforeSleep; ++i) {
        if (attempt())
          return stopSearching();
        relax(i);
      }
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      searchers_.fetch_sub(1, std::memory_order_seq_cst);
      uint32_t seen = epoch_.load(std::memory_order_seq_cst);
      if (attempt()) {
        sleepers_.fetch_sub(1, std::memory_order_seq_cst);
        return;
      }
      epoch_.wait(seen, std::memory_order_seq_cst);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    }
  }

  /// A short pause between looks, the number of which is given.
  static void relax(int look) {
    // Where threads share processors, looking on only keeps others from finishing.
    if (look % 64 == 63)
      return std::this_thread::yield();
    for (int i = 0; i < 8; ++i)
#if defined(__x86_64__)
      __builtin_ia32_pause();
#else
      std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
  }

private:
  static constexpr int looksBeforeSleep = 400;

  void stopSearching() {
    if (searchers_.fetch_sub(1, std::memory_order_seq_cst) == 1)
      announce();
  }

  void wakeOne() {
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    epoch_.notify_one();
  }

  alignas(64) std::atomic<int32_t> sleepers_{0};
  std::atomic<int32_t> searchers_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
};

} // namespace ptl::rt
