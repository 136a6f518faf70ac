// Measures the time of work on all threads, as the fastest of several rounds.
#pragma once

#include "runtime/schedule/pool.h"

#include <algorithm>
#include <chrono>

namespace ptl {

/// The seconds that `body` takes over `count` pieces on all threads of the runtime's pool. Other
/// load only makes a round slower, so the fastest round counts. At least five rounds are run, and
/// for at least 30 ms, so that other load leaves one of them undisturbed.
inline double bestTime(rt::ThreadPool::Body body, void *closure, int64_t count) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 5;
  constexpr double kSeconds = 0.03;
  double best = 0, total = 0;
  for (int round = 0; round < kRounds || total < kSeconds; ++round) {
    Clock::time_point start = Clock::now();
    rt::ThreadPool::shared().run(body, closure, count, 1, nullptr);
    double time = std::chrono::duration<double>(Clock::now() - start).count();
    best = round == 0 ? time : std::min(best, time);
    total += time;
  }
  return best;
}

} // namespace ptl
