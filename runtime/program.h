#pragma once

#include "runtime/context.h"
#include "runtime/storage_table.h"

#include <atomic>
#include <span>

namespace ptl::rt {

/// A task as compiled code describes it.
struct Submission {
  PtlBody body;
  int64_t count; ///< of points, at least 1
  const void *closure;
  size_t closureBytes;
  const int64_t *accesses; ///< words, in the format of `ptl_rt_submit`
  size_t accessCount;
  const PtlPlace *place;
};

/// The header of a task's closure: what its body needs in addition to the cells of compiled code,
/// which follow.
struct alignas(PTL_RT_ALIGNMENT) TaskHeader {
  PtlBody body;
  const PtlPlace *place;
  uint64_t number; ///< in program order, from 1
};

/// One run of a program's code, with the functions that the code calls to submit tasks, wait for
/// them and allocate memory. Subclasses decide how the tasks are executed.
class ProgramRun {
public:
  explicit ProgramRun(PtlContext &context) : context_(context) { context.program = this; }
  virtual ~ProgramRun() { context_.program = nullptr; }
  ProgramRun(const ProgramRun &) = delete;

  virtual void submit(const Submission &task) = 0;
  /// Waits until no unfinished task conflicts with the access.
  virtual void await(const int64_t *access) = 0;
  /// Allocates memory for tasks; nullptr if there is none.
  virtual void *allocate(int64_t bytes) = 0;
  /// Frees memory as soon as all tasks submitted so far that use it have ended.
  virtual void release(void *memory) = 0;

  PtlContext &context() { return context_; }
  /// The number of tasks submitted so far.
  uint64_t submitted() const { return submitted_; }
  /// Cancels everything after the calling code in program order, and returns the calling code's
  /// place in that order: larger numbers are later.
  uint64_t failAt();
  /// Whether the calling thread runs the program's own code rather than a task.
  static bool isProgramCode();

protected:
  void runPoints(const TaskHeader &header, const void *cells, int64_t begin, int64_t end);
  /// The body of every task in graphs and windows; its argument is the run.
  static void runTask(void *run, const void *closure, int64_t begin, int64_t end);
  int64_t grainOf(int64_t count) const;

  PtlContext &context_;
  uint64_t submitted_ = 0;

private:
  std::atomic<uint64_t> stopAfter_{UINT64_MAX};
};

/// Converts accesses from the words of compiled code to the form that graphs use.
class AccessWords {
public:
  /// Storages without a number get one by `add(address, rank)`.
  template <class Add>
  std::span<const Access> read(const int64_t *words, size_t count, StorageTable &storages, Add add);

private:
  static constexpr int64_t everything = INT64_MAX / 4;
  std::vector<Access> accesses_;
  std::vector<Axis> axes_;
};

template <class Add>
std::span<const Access> AccessWords::read(const int64_t *words, size_t count,
                                          StorageTable &storages, Add add) {
  accesses_.clear();
  axes_.clear();
  for (size_t i = 0; i < count; ++i) {
    int64_t address = words[0], rank = words[2];
    AccessMode mode = words[1] != 0 ? AccessMode::Write : AccessMode::Read;
    words += 3;
    const StorageTable::Entry *storage = storages.find(address);
    if (!storage) {
      auto wanted = static_cast<uint32_t>(rank < 0 ? 0 : rank);
      storage = &storages.add({address, add(address, wanted), wanted});
    }
    // A storage has one rank. An access with another rank is treated as an access to all of it,
    // which is always safe.
    bool isWhole = rank < 0 || static_cast<uint32_t>(rank) != storage->rank;
    for (int64_t axis = 0; !isWhole && axis < rank; ++axis)
      axes_.push_back({words[3 * axis], words[3 * axis + 1], words[3 * axis + 2]});
    if (isWhole)
      axes_.resize(axes_.size() + storage->rank, {0, everything, 1});
    words += rank > 0 ? 3 * rank : 0;
    // The vector of axes may still be reallocated, so boxes are set below.
    accesses_.push_back({storage->id, mode, {static_cast<const Axis *>(nullptr), storage->rank}});
  }
  size_t next = 0;
  for (Access &access : accesses_) {
    access.box = {axes_.data() + next, access.box.size()};
    next += access.box.size();
  }
  return accesses_;
}

} // namespace ptl::rt
