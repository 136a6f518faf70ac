#include "runtime/program_choice.h"

#include <algorithm>

namespace ptl::rt {
namespace {

/// Programs that take longer gain from threads, or lose too little to be worth a slow run.
constexpr int64_t kLongEnough = 1'000'000;
/// The first run sets things up; then two runs measure each way.
constexpr uint32_t kFirstWithThreads = 3, kFirstInOrder = 5;
/// The slower way is tried again every so many runs.
constexpr uint32_t kPeriod = 64;
/// A measurement is weighted a little less after each slower run.
constexpr double kForgetting = 1.02;

} // namespace

ProgramChoice &ProgramChoice::shared() {
  // Never destroyed: programs may run while the process exits.
  static ProgramChoice *instance = new ProgramChoice;
  return *instance;
}

ProgramChoice::Entry &ProgramChoice::entryOf(Key key) {
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (int64_t word : key) {
    hash = (hash ^ static_cast<uint64_t>(word)) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  Entry &entry = entries_[hash % entryCount];
  if (entry.hash != hash)
    entry = Entry{.hash = hash};
  return entry;
}

bool ProgramChoice::runsInOrder(Key key) {
  std::lock_guard lock(mutex_);
  Entry &entry = entryOf(key);
  uint32_t run = entry.runs;
  entry.runs = run < 1u << 30 ? run + 1 : kFirstInOrder;
  if (run < kFirstWithThreads || entry.isLong || entry.threads <= 0)
    return false;
  if (run < kFirstInOrder || entry.inOrder <= 0)
    return true;
  bool isFaster = entry.inOrder < entry.threads;
  return run % kPeriod == 0 ? !isFaster : isFaster;
}

void ProgramChoice::note(Key key, bool inOrder, int64_t nanoseconds, uint64_t tasks) {
  std::lock_guard lock(mutex_);
  Entry &entry = entryOf(key);
  // The first run is not typical: caches are cold and the graph is recorded.
  if (entry.runs <= 1)
    return;
  entry.isLong = nanoseconds > kLongEnough;
  double each =
      static_cast<double>(nanoseconds) / static_cast<double>(std::max<uint64_t>(tasks, 1));
  double &known = inOrder ? entry.inOrder : entry.threads;
  known = known > 0 ? std::min(each, known * kForgetting) : each;
}

} // namespace ptl::rt
