// Movements of a rank that go on while it computes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ptl::parts {

/// One thread that does what it is given, in that order: the connections to other ranks are used by one thread at a time, and
/// all ranks have to begin their movements in one order.
class Mover {
public:
  Mover();
  /// Waits for what has begun; the rest is dropped.
  ~Mover();
  Mover(const Mover &) = delete;
  Mover &operator=(const Mover &) = delete;

  /// The number of the work, counted from 1.
  uint64_t begin(std::function<void()> work);
  /// Until that work has ended, and all before it. What it has written can be read then.
  void wait(uint64_t number);
  void waitForAll() { wait(begun_); }

private:
  void run();

  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  uint64_t begun_ = 0; ///< used by the thread that computes
  uint64_t ended_ = 0;
  bool isOver_ = false;
  std::thread thread_; ///< last, since it uses the others
};

} // namespace ptl::parts
