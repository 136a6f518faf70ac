// A rank that sleeps is woken by what is done after it has begun to listen, and sees what was done before.
#include "runtime/ranks/doorbell.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

namespace ptl::ranks {
namespace {

/// One thread listens and looks, the other does something and rings, both at the same time, again and again.
class Meetings {
public:
  explicit Meetings(bool fencesOthers) {
    if (fencesOthers)
      bell_.fenceOthers();
  }

  /// How often the first thread has seen nothing and would not have been woken.
  uint32_t missed() {
    std::thread rings([this] {
      for (uint32_t meeting = 1; met(begun_, meeting); ++meeting) {
        bell_.ring(); // From here on this thread has the bell in its cache, and what it writes not.
        for (Line &line : written_)
          line.word.store(meeting, std::memory_order_relaxed);
        done_.store(meeting, std::memory_order_release);
        bell_.ring();
        ended_.store(meeting, std::memory_order_release);
      }
    });
    uint32_t missed = 0, meeting = 1;
    auto begin = std::chrono::steady_clock::now();
    for (; std::chrono::steady_clock::now() - begin < kTime; ++meeting) {
      begun_.store(meeting, std::memory_order_release);
      // The two come closer to each other, and part again.
      for (volatile uint32_t i = 0; i < meeting % 512; i = i + 1) {
      }
      uint32_t heard = bell_.listen();
      bool isSeen = done_.load(std::memory_order_acquire) == meeting;
      met(ended_, meeting);
      for (Line &line : written_)
        line.word.store(0, std::memory_order_relaxed);
      missed += !isSeen && !bell_.sleep(heard, 1);
      bell_.ignore();
    }
    begun_.store(kEnd, std::memory_order_release);
    rings.join();
    return missed;
  }

private:
  static constexpr std::chrono::milliseconds kTime{200};
  static constexpr uint32_t kEnd = UINT32_MAX;

  /// Waits for the other thread; false at the end.
  static bool met(const std::atomic<uint32_t> &other, uint32_t meeting) {
    for (uint32_t looks = 0;; ++looks) {
      uint32_t now = other.load(std::memory_order_acquire);
      if (now == meeting || now == kEnd)
        return now == meeting;
      if (looks % 1024 == 1023)
        std::this_thread::yield();
    }
  }

  struct alignas(64) Line {
    std::atomic<uint32_t> word;
  };

  Doorbell bell_{};
  std::array<Line, 8>
      written_{}; ///< what the other thread waits for before others see what it has done
  alignas(64) std::atomic<uint32_t> begun_ = 0;
  alignas(64) std::atomic<uint32_t> done_ = 0;
  alignas(64) std::atomic<uint32_t> ended_ = 0;
};

TEST(Doorbell, NothingIsMissed) { EXPECT_EQ(Meetings(false).missed(), 0u); }

TEST(Doorbell, NothingIsMissedWithoutFences) {
  if (!Doorbell::takeFences())
    GTEST_SKIP() << "this system has no fences for other processes";
  EXPECT_EQ(Meetings(true).missed(), 0u);
}

} // namespace
} // namespace ptl::ranks
