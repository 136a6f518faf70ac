#pragma once

#include "runtime/graph/task.h"

#include <array>
#include <atomic>

namespace ptl::rt {

/// Measures how long tasks of one body take, by sampling, to decide whether passing a task to
/// another thread takes longer than running it. Thread-safe.
///
/// A single long task has an immediate effect that decays slowly, because running a long task where
/// it is submitted costs more than passing on many short ones.
class BodyTimes {
public:
  /// The cost of passing a task to another thread, for both threads together, in ns. It is about
  /// the time of a task in a chain in `ptl_task_bench` with two threads, where every task is passed
  /// on.
  static constexpr uint32_t handOver = 150;

  /// Whether its tasks are known to take no longer than passing them on.
  bool isShort(TaskBody body) const {
    const Entry *entry = find(body);
    return entry && entry->samples.load(std::memory_order_relaxed) >= fewestSamples &&
           entry->nanoseconds.load(std::memory_order_relaxed) <= handOver;
  }

  /// Whether the task with this number is to be measured: the first tasks of a body, and later one
  /// of `every`.
  bool isDue(TaskBody body, uint64_t number, uint64_t every) const {
    if (number % every == 0)
      return true;
    const Entry *entry = find(body);
    return !entry || entry->samples.load(std::memory_order_relaxed) < firstSamples;
  }

  void add(TaskBody body, uint64_t nanoseconds) {
    Entry *entry = take(body);
    if (!entry)
      return;
    auto measured = static_cast<uint32_t>(nanoseconds < longest ? nanoseconds : longest);
    uint32_t known = entry->nanoseconds.load(std::memory_order_relaxed);
    if (measured < known)
      measured = known - (known - measured + 3) / 4;
    entry->nanoseconds.store(measured, std::memory_order_relaxed);
    uint32_t samples = entry->samples.load(std::memory_order_relaxed);
    if (samples < firstSamples)
      entry->samples.store(samples + 1, std::memory_order_relaxed);
  }

private:
  static constexpr uint32_t fewestSamples = 4, firstSamples = 32;
  static constexpr uint64_t longest = 1'000'000; ///< ns; longer times are not distinguished
  static constexpr size_t places = 256, looks = 8;

  struct Entry {
    std::atomic<TaskBody> body{nullptr};
    std::atomic<uint32_t> nanoseconds{0}, samples{0};
  };

  static size_t placeOf(TaskBody body) {
    return (reinterpret_cast<uintptr_t>(body) * 0x9e3779b97f4a7c15u) >> 56;
  }

  const Entry *find(TaskBody body) const {
    for (size_t look = 0, at = placeOf(body); look < looks; ++look) {
      const Entry &entry = entries_[(at + look) % places];
      TaskBody known = entry.body.load(std::memory_order_relaxed);
      if (known == body)
        return &entry;
      if (!known)
        return nullptr;
    }
    return nullptr;
  }

  /// The entry of a body, which is added if there is room near its place; otherwise null.
  Entry *take(TaskBody body) {
    for (size_t look = 0, at = placeOf(body); look < looks; ++look) {
      Entry &entry = entries_[(at + look) % places];
      TaskBody known = entry.body.load(std::memory_order_relaxed);
      if (known == body ||
          (!known && (entry.body.compare_exchange_strong(known, body) || known == body)))
        return &entry;
    }
    return nullptr;
  }

  std::array<Entry, places> entries_;
};

} // namespace ptl::rt
