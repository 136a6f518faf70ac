// Chooses whether a program's tasks run one after another on the calling thread, or on all threads,
// by what has been faster so far. Handing a small task to another thread often costs more than
// running it.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

namespace ptl::rt {

class ProgramChoice {
public:
  /// Identifies a program and its arguments.
  using Key = std::span<const int64_t>;

  /// Chooses for a run that begins. The first run uses all threads. Afterwards each way is tried
  /// for programs that are short, and now and again the slower way, since which one is faster may
  /// change.
  bool runsInOrder(Key key);
  /// Notes how long a run took that went the chosen way.
  void note(Key key, bool inOrder, int64_t nanoseconds, uint64_t tasks);

  static ProgramChoice &shared();

private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t runs = 0;
    bool isLong = false;
    double threads = 0, inOrder = 0; ///< nanoseconds of a task; 0: not known
  };
  static constexpr uint64_t entryCount = 256; ///< programs that collide overwrite each other
  Entry &entryOf(Key key);

  std::mutex mutex_;
  Entry entries_[entryCount];
};

} // namespace ptl::rt
