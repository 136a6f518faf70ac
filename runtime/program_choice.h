// Whether a program's tasks run one after another on the calling thread, or on all threads: what
// has been faster so far. Handing a task from thread to thread costs more than many a small one
// takes.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

namespace ptl::rt {

class ProgramChoice {
public:
  /// Of which program, with which arguments.
  using Key = std::span<const int64_t>;

  /// Chooses for a run that begins. All threads at first; then each way is tried for programs that
  /// are short, and now and again the slower one, since what decides may change.
  bool runsInOrder(Key key);
  /// A run so chosen took so long.
  void note(Key key, bool inOrder, int64_t nanoseconds, uint64_t tasks);

  static ProgramChoice &shared();

private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t runs = 0;
    bool isLong = false;
    double threads = 0, inOrder = 0; ///< nanoseconds of a task; 0: not known
  };
  static constexpr uint64_t entryCount = 256; ///< programs that meet in one forget what they know
  Entry &entryOf(Key key);

  std::mutex mutex_;
  Entry entries_[entryCount];
};

} // namespace ptl::rt
