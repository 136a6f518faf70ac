#pragma once

#include "runtime/abi/kernel_abi.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ptl::rt {

/// Records for traces what ran when during one call. The calls of a thread are recorded while
/// `Recorder::ofThread` is set. Tasks are added by the thread that runs the program, spans by any
/// thread of the pool.
class Recorder {
public:
  /// A task, or the grid of a kernel, in program order.
  struct Task {
    PtlPlace place;
    int64_t points;
    int64_t submitted; ///< nanoseconds since the beginning
    size_t firstWord;  ///< of its accesses, as `ptl_rt_submit` takes them
    size_t accesses;
    size_t releases; ///< storages that were released before it
    bool isLoop;     ///< of a kernel: begins when what was before it has ended
  };
  /// Points of a task that a thread ran without a break.
  struct Span {
    uint64_t task; ///< from 1
    int64_t begin, end;
    int64_t start, stop; ///< nanoseconds since the beginning
  };
  /// A time in which the program's code waited for data.
  struct Wait {
    int64_t start, stop;
  };

  /// The bytes of a static program's intermediates: as they are placed, without sharing memory, and
  /// as live at once in program order.
  struct Storage {
    int64_t bytes = 0, unshared = 0, leastLive = 0;
  };

  explicit Recorder(int threads);

  /// Adds a task and gives its number, counted from 1.
  uint64_t addTask(const PtlPlace *place, int64_t points, const int64_t *words, size_t accesses,
                   bool isLoop);
  void addRelease(const void *memory);
  void addSpan(uint64_t task, int64_t begin, int64_t end, int64_t start, int64_t stop);
  void addWait(int64_t start, int64_t stop) { waits_.push_back({start, stop}); }
  void setStorage(const Storage &storage) { storage_ = storage; }
  int64_t now() const { return clock() - origin_; }
  /// Begins a call: times count from now, and nothing has been recorded.
  void begin() {
    restart();
    origin_ = clock();
  }
  /// Forgets all that has been recorded since the call began.
  void restart();

  const std::vector<Task> &tasks() const { return tasks_; }
  const std::vector<int64_t> &words() const { return words_; }
  const std::vector<int64_t> &released() const { return released_; }
  const std::vector<std::vector<Span>> &lanes() const { return lanes_; }
  const std::vector<Wait> &waits() const { return waits_; }
  const std::optional<Storage> &storage() const { return storage_; }

  /// The recorder of the calling thread, null at first.
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
