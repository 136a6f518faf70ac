// Keeps what one run of a program learns, so that the next run can use it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace ptl::rt {

/// A cache of objects that have a `key()` and a size of `bytes()`; the least recently used ones are
/// evicted. A run takes an object out, so that no other run can use it at the same time, and
/// returns it. Thread-safe.
template <class T> class KeptBetweenRuns {
public:
  KeptBetweenRuns(size_t most, int64_t mostBytes) : most_(most), mostBytes_(mostBytes) {}

  /// Null if there is no such object, or if another run has it.
  std::unique_ptr<T> take(const std::vector<int64_t> &key) {
    std::lock_guard lock(mutex_);
    for (auto at = kept_.begin(); at != kept_.end(); ++at)
      if ((*at)->key() == key) {
        auto found = std::move(*at);
        kept_.erase(at);
        return found;
      }
    return nullptr;
  }

  void giveBack(std::unique_ptr<T> thing) {
    std::list<std::unique_ptr<T>> dropped; // Destroyed without the lock.
    std::lock_guard lock(mutex_);
    kept_.push_front(std::move(thing));
    int64_t bytes = 0;
    size_t count = 0;
    auto at = kept_.begin();
    for (; at != kept_.end(); ++at) {
      bytes += (*at)->bytes();
      if (++count > 1 && (count > most_ || bytes > mostBytes_))
        break;
    }
    dropped.splice(dropped.begin(), kept_, at, kept_.end());
  }

private:
  size_t most_;
  int64_t mostBytes_;
  std::mutex mutex_;
  std::list<std::unique_ptr<T>> kept_; ///< most recently used first
};

} // namespace ptl::rt
