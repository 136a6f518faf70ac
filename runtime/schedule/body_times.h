#pragma once

#include "runtime/graph/task.h"

#include <array>
#include <atomic>

namespace ptl::rt {

/// Measures how long tasks of one body take, by timing some of them, to decide whether handing a
/// task to another thread takes longer than running it. Threads may use it at once.
///
/// A single long task counts at once and is forgotten slowly, because running a long task where it
/// is submitted costs more than handing over many short ones.
class BodyTimes {
public:
  /// What handing a task over costs both threads together, in ns. This is about what a task of a
  /// chain takes in `ptl_task_bench` with two threads, where every task is handed over.
  static constexpr uint32_t handOver = 150;

  /// Whether its tasks are known to take no longer than to be handed over.
  bool isShort(TaskBody body) const {
    const Entry *entry = find(body);
    return entry && entry->samples.load(std::memory_order_relaxed) >= fewestSamples &&
           entry->nanoseconds.load(std::memory_order_relaxed) <= handOver;
  }

  /// Whether the task with this number is to be measured: the first tasks of a body are, later one
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
  static constexpr uint64_t longest = 1'000'000; ///< ns that are told apart
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

  /// The entry of a body, made if there is room near its place; else null.
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
