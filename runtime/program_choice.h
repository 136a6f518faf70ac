// Chooses whether a program's tasks run sequentially on the calling thread, or on all threads, by
// measured times. Passing a small task to another thread often takes longer than running it.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

namespace ptl::rt {

class ProgramChoice {
public:
  /// Identifies a program and its arguments.
  using Key = std::span<const int64_t>;

  /// Chooses for the run that begins. The first run uses all threads. Afterwards both ways are
  /// tried for short programs, and occasionally the slower way again, since the times may change.
  bool runsInOrder(Key key);
  /// Records the time of a run in the chosen way.
  void note(Key key, bool inOrder, int64_t nanoseconds, uint64_t tasks);

  static ProgramChoice &shared();

private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t runs = 0;
    bool isLong = false;
    double threads = 0, inOrder = 0; ///< nanoseconds per task; 0: unknown
  };
  static constexpr uint64_t entryCount = 256; ///< programs that collide overwrite each other
  Entry &entryOf(Key key);

  std::mutex mutex_;
  Entry entries_[entryCount];
};

} // namespace ptl::rt
