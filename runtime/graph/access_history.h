#pragma once

#include "runtime/graph/task.h"

#include <atomic>
#include <memory>
#include <vector>

namespace ptl::rt {

/// A task as the histories know it: tasks that were submitted later have a larger sequence number,
/// from 1. A slot holds one task after the other.
struct TaskRef {
  uint64_t sequence = 0;
  uint32_t slot = 0;

  friend bool operator==(const TaskRef &, const TaskRef &) = default;
};

/// Tells which tasks are complete: of each slot, the sequence number of the last task that is. An
/// empty one says that none are, for graphs that are built before they run.
class Completed {
public:
  Completed() = default;
  Completed(const std::atomic<uint64_t> *first, size_t stride)
      : first_(reinterpret_cast<const char *>(first)), stride_(stride) {}

  bool has(TaskRef task) const {
    if (!first_)
      return false;
    auto *last =
        reinterpret_cast<const std::atomic<uint64_t> *>(first_ + size_t(task.slot) * stride_);
    return last->load(std::memory_order_acquire) >= task.sequence;
  }

private:
  const char *first_ = nullptr;
  size_t stride_ = 0;
};

/// The accesses of one kind (reads, or writes) to one storage that still matter. While all boxes
/// are tiles of one grid, a tile finds those that it meets by its position; else all are tested.
class AccessList {
public:
  explicit AccessList(size_t rank) : rank_(rank) {}

  size_t size() const { return tasks_.size(); }
  TaskRef task(size_t i) const { return tasks_[i]; }
  Box box(size_t i) const { return {axes_.data() + i * rank_, rank_}; }

  void add(TaskRef task, Box box);
  /// The numbers of the entries whose boxes overlap `box`, oldest first, without complete ones.
  void find(Box box, const Completed &completed, std::vector<uint32_t> &found) const;
  /// Forgets entries; their places stay until most are forgotten.
  void remove(const std::vector<uint32_t> &entries, const Completed &completed);
  void removeCompleted(const Completed &completed);

private:
  bool onGrid(Box box) const;
  uint64_t hashOf(Box box) const;
  bool samePlace(Box a, Box b) const;
  void clear();
  void index(uint32_t entry);
  void rebuildIndex(size_t capacity);

  static constexpr uint32_t none = ~0u;
  size_t rank_;
  size_t forgotten_ = 0; ///< entries with a sequence number of 0
  std::vector<TaskRef> tasks_;
  std::vector<Axis> axes_;
  // The grid: sizes of a tile; heads of chains of entries at one place, newest first.
  bool aligned_ = true;
  std::vector<int64_t> tile_;
  std::vector<uint32_t> heads_, next_;
};

/// Derives the edges of tasks from what they read and write. Tasks come in program order.
class AccessHistory {
public:
  explicit AccessHistory(Completed completed = {}) : completed_(completed) {}

  /// A new storage, or a forgotten one's number anew.
  StorageId addStorage(size_t rank);
  void forget(StorageId storage);
  size_t rankOf(StorageId storage) const { return storages_[storage]->rank; }

  /// Enters the accesses of `task` and gives the tasks that it must wait for: each once, none of
  /// them complete, none that another access of the same storage implies.
  void record(TaskRef task, std::span<const Access> accesses, std::vector<TaskRef> &predecessors);

  /// The tasks that somebody must wait for who does `access` at once, without entering it.
  void conflicts(const Access &access, std::vector<TaskRef> &tasks);

  /// Accesses held at present, and at most so far.
  size_t held() const { return held_; }
  size_t peak() const { return peak_; }

private:
  struct Storage {
    explicit Storage(size_t rank) : rank(rank), reads(rank), writes(rank) {}
    size_t rank;
    AccessList reads, writes;
    size_t sweepAt = 64;
  };

  void recordRead(Storage &storage, TaskRef task, Box box, std::vector<TaskRef> &out);
  void recordWrite(Storage &storage, TaskRef task, Box box, std::vector<TaskRef> &out);
  void findWriters(Storage &storage, Box box, std::vector<TaskRef> &out);
  void addUnique(TaskRef task, std::vector<TaskRef> &out);
  void sweep(Storage &storage);

  Completed completed_;
  std::vector<std::unique_ptr<Storage>> storages_;
  std::vector<StorageId> free_;
  std::vector<uint32_t> foundWrites_, foundReads_, covered_;
  // Of each slot, the last task that took it as a predecessor, to name each only once.
  std::vector<uint64_t> taken_;
  uint64_t takes_ = 0;
  size_t held_ = 0, peak_ = 0;
};

} // namespace ptl::rt
