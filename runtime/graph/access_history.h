#pragma once

#include "runtime/graph/task.h"
#include "runtime/graph/tile_cells.h"

#include <atomic>
#include <memory>
#include <vector>

namespace ptl::rt {

/// Knows which tasks are complete. It stores for each slot the sequence number of the last task
/// that completed there. An empty one says that no task is complete, for graphs that are built
/// before they run.
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

/// Accesses of one kind (reads, or writes) to one storage that may still conflict, oldest first.
/// Their boxes have no common structure, so all are tested.
class AccessList {
public:
  void clear(size_t rank);
  size_t size() const { return tasks_.size(); }
  TaskRef task(size_t i) const { return tasks_[i]; }
  Box box(size_t i) const { return {axes_.data() + i * rank_, rank_}; }

  void add(TaskRef task, Box box);
  /// The numbers of the entries after the task `since` whose boxes overlap `box`, oldest first,
  /// without those of complete tasks.
  void find(Box box, uint64_t since, const Completed &completed,
            std::vector<uint32_t> &found) const;
  /// Removes those of `entries` (ascending) that `box` covers.
  void removeCovered(Box box, const std::vector<uint32_t> &entries);
  void removeCompleted(const Completed &completed);

private:
  template <class Keep> void retain(Keep keep);

  size_t rank_ = 0;
  std::vector<TaskRef> tasks_;
  std::vector<Axis> axes_;
};

/// Derives the edges of the task graph from the accesses of tasks, which come in program order.
///
/// Boxes that are tiles of one grid, as most are, are found by their cell; the other boxes of a
/// storage are kept in lists. A box of either kind is compared with all of the other kind.
class AccessHistory {
public:
  explicit AccessHistory(Completed completed = {}) : completed_(completed) {}

  /// Adds a storage; the number of a removed one may be reused.
  StorageId addStorage(size_t rank);
  void forget(StorageId storage);
  size_t rankOf(StorageId storage) const { return storages_[storage]->rank; }

  /// Records the accesses of `task` and returns its predecessors, the tasks that it must wait for:
  /// each once, without complete ones, and without those that another access of the same storage
  /// implies.
  void record(TaskRef task, std::span<const Access> accesses, std::vector<TaskRef> &predecessors);

  /// Finds the tasks that must end before `access` could be made now; the access itself is not
  /// recorded.
  void conflicts(const Access &access, std::vector<TaskRef> &tasks);

  /// The number of accesses held at present, and its maximum so far.
  size_t held() const { return held_; }
  size_t peak() const { return peak_; }

private:
  using Cell = TileCells::Cell;
  static constexpr uint32_t none = TileCells::none;
  struct Storage {
    size_t rank = 0;
    TileCells cells;
    AccessList reads, writes; ///< of boxes without a cell
    size_t readers = 0;       ///< of cells
    size_t sweepAt = 0;
    size_t held() const { return cells.size() + readers + reads.size() + writes.size(); }
  };
  /// A reader of a cell.
  struct Reader {
    TaskRef task;
    uint32_t next = none;
  };
  using Tasks = std::vector<TaskRef>;

  bool isLive(TaskRef task) const { return task.sequence != 0 && !completed_.has(task); }
  uint32_t cellOf(Storage &storage, Box box);
  void readTile(Storage &storage, Cell &cell, TaskRef task, Box box, Tasks &out);
  void writeTile(Storage &storage, Cell &cell, TaskRef task, Box box, Tasks &out);
  void readBox(Storage &storage, TaskRef task, Box box, Tasks &out);
  void writeBox(Storage &storage, TaskRef task, Box box, Tasks &out);
  void takeCells(Storage &storage, TaskRef task, Box box, bool withReaders, Tasks &out);
  void takeWrites(const Storage &storage, TaskRef task, Box box, AccessMode mode,
                  uint64_t newestReader, Tasks &out);
  bool isHiddenByList(const Storage &storage, TaskRef task, TaskRef writer, Box written,
                      Box box) const;
  TaskRef newestReader(const Cell &cell, TaskRef except) const;
  void addReader(Storage &storage, Cell &cell, TaskRef task);
  void dropReaders(Storage &storage, Cell &cell);
  void dropCompleteReaders(Storage &storage, Cell &cell);
  void addUnique(TaskRef task, Tasks &out);
  void sweep(Storage &storage);

  Completed completed_;
  std::vector<std::unique_ptr<Storage>> storages_;
  std::vector<StorageId> free_;
  std::vector<Reader> readers_;
  uint32_t freeReaders_ = none;
  // Scratch: the numbers of cells and of list entries that conflict with the access being recorded.
  std::vector<uint32_t> foundCells_, foundWrites_, foundReads_;
  // For each slot, the last task that recorded it as a predecessor, so that no predecessor is
  // listed twice.
  std::vector<uint64_t> taken_;
  uint64_t takes_ = 0;
  size_t held_ = 0, peak_ = 0;
};

} // namespace ptl::rt
