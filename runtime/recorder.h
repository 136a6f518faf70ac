#pragma once

#include "runtime/abi/kernel_abi.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ptl::rt {

/// Records for traces what ran when during one call. The calls of a thread are recorded while
/// `Recorder::ofThread` is set. The thread that runs the program adds tasks; any thread of the pool
/// adds spans.
class Recorder {
public:
  /// A task, or the grid of a kernel, in program order.
  struct Task {
    PtlPlace place;
    int64_t points;
    int64_t submitted; ///< nanoseconds since the beginning
    size_t firstWord;  ///< of its accesses, in the format of `ptl_rt_submit`
    size_t accesses;
    size_t releases; ///< storages that were released before it
    bool isLoop;     ///< of a kernel: begins after everything before it has ended
  };
  /// Points of a task that a thread ran without interruption.
  struct Span {
    uint64_t task; ///< from 1
    int64_t begin, end;
    int64_t start, stop; ///< nanoseconds since the beginning
  };
  /// A period in which the program's code waited for data.
  struct Wait {
    int64_t start, stop;
  };

  /// The bytes of a static program's intermediates: as placed, without sharing memory, and the peak
  /// of live bytes in program order.
  struct Storage {
    int64_t bytes = 0, unshared = 0, leastLive = 0;
  };

  explicit Recorder(int threads);

  /// Adds a task and returns its number, counted from 1.
  uint64_t addTask(const PtlPlace *place, int64_t points, const int64_t *words, size_t accesses,
                   bool isLoop);
  void addRelease(const void *memory);
  void addSpan(uint64_t task, int64_t begin, int64_t end, int64_t start, int64_t stop);
  void addWait(int64_t start, int64_t stop) { waits_.push_back({start, stop}); }
  void setStorage(const Storage &storage) { storage_ = storage; }
  int64_t now() const { return clock() - origin_; }
  /// Begins a call: times are relative to now, and the record is empty.
  void begin() {
    restart();
    origin_ = clock();
  }
  /// Removes everything recorded since the call began.
  void restart();

  const std::vector<Task> &tasks() const { return tasks_; }
  const std::vector<int64_t> &words() const { return words_; }
  const std::vector<int64_t> &released() const { return released_; }
  const std::vector<std::vector<Span>> &lanes() const { return lanes_; }
  const std::vector<Wait> &waits() const { return waits_; }
  const std::optional<Storage> &storage() const { return storage_; }

  /// The recorder of the calling thread, initially null.
  static Recorder *&ofThread();

private:
  static int64_t clock();

  int64_t origin_;
  std::vector<Task> tasks_;
  std::vector<int64_t> words_, released_;
  std::vector<std::vector<Span>> lanes_; ///< by thread
  std::vector<Wait> waits_;
  std::optional<Storage> storage_;
};

} // namespace ptl::rt
