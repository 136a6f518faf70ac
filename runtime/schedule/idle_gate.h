#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace ptl::rt {

/// Where idle lanes wait: they poll for work for a while, then sleep. While one lane polls, no
/// other needs to be woken, and the one that finds work wakes the next.
class IdleGate {
public:
  /// Announces new work. The caller must have pushed that work with sequentially consistent order.
  void announce() {
    if (sleepers_.load(std::memory_order_seq_cst) > 0 &&
        searchers_.load(std::memory_order_seq_cst) == 0)
      wakeOne();
  }

  /// Wakes all lanes because a condition that they wait for has become true.
  void wakeAll() {
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    epoch_.notify_all();
  }

  /// Calls `attempt` until it returns true.
  template <class Attempt> void waitUntil(Attempt attempt) {
    while (true) {
      searchers_.fetch_add(1, std::memory_order_seq_cst);
      for (int i = 0; i < looksBeforeSleep; ++i) {
        if (attempt())
          return stopSearching();
        relax(i);
      }
      // A lane counts as a sleeper before it stops counting as a searcher, and polls once more
      // after that: work that is announced in between is either found here, or its announcer sees
      // the sleeper.
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

  /// Pauses briefly between two polls; `look` is the number of polls so far.
  static void relax(int look) {
    // Where threads share processors, a polling lane only keeps others from finishing.
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
    // The last searcher has found work. There may be more work, for which no lane was woken while
    // it searched.
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
