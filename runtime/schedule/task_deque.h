#pragma once

#include "runtime/graph/task.h"

#include <atomic>
#include <memory>
#include <vector>

namespace ptl::rt {

/// A work-stealing queue of one lane (Chase and Lev, "Dynamic circular work-stealing deque"): the
/// owner pushes and pops at one end, others steal the oldest task at the other. `alone` says that
/// there are no thieves, which saves memory fences.
class TaskDeque {
public:
  TaskDeque() = default;
  TaskDeque(const TaskDeque &) = delete;

  void setAlone(bool alone) { alone_ = alone; }
  bool isEmpty() const {
    return bottom_.load(std::memory_order_seq_cst) <= top_.load(std::memory_order_seq_cst);
  }

  /// Called by the owner.
  void push(TaskId task) {
    int64_t bottom = bottom_.load(std::memory_order_relaxed);
    Cells *cells = cells_.load(std::memory_order_relaxed);
    if (!cells || bottom - top_.load(std::memory_order_acquire) > cells->mask)
      cells = grow(bottom);
    cells->at(bottom).store(task, std::memory_order_relaxed);
    bottom_.store(bottom + 1, alone_ ? std::memory_order_relaxed : std::memory_order_seq_cst);
  }

  /// Takes the newest task, or `kNoTask`. Called by the owner.
  TaskId pop() {
    int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    int64_t top = top_.load(std::memory_order_relaxed);
    if (top > bottom)
      return kNoTask;
    if (alone_) {
      bottom_.store(bottom, std::memory_order_relaxed);
      return own().at(bottom).load(std::memory_order_relaxed);
    }
    bottom_.store(bottom, std::memory_order_seq_cst);
    top = top_.load(std::memory_order_seq_cst);
    TaskId task = kNoTask;
    if (top <= bottom) {
      task = own().at(bottom).load(std::memory_order_relaxed);
      if (top < bottom)
        return task;
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst))
        task = kNoTask;
    }
    bottom_.store(bottom + 1, std::memory_order_release);
    return task;
  }

  /// Takes the oldest task; `kNoTask` if there is none, or if another thread was faster. Any thread
  /// may call it.
  TaskId steal() {
    int64_t top = top_.load(std::memory_order_seq_cst);
    if (top >= bottom_.load(std::memory_order_seq_cst))
      return kNoTask;
    Cells *cells = cells_.load(std::memory_order_acquire);
    TaskId task = cells->at(top).load(std::memory_order_relaxed);
    return top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst) ? task : kNoTask;
  }

private:
  struct Cells {
    explicit Cells(int64_t count)
        : mask(count - 1), tasks(std::make_unique<std::atomic<TaskId>[]>(size_t(count))) {}
    std::atomic<TaskId> &at(int64_t position) { return tasks[size_t(position & mask)]; }
    int64_t mask;
    std::unique_ptr<std::atomic<TaskId>[]> tasks;
  };

  Cells &own() { return *cells_.load(std::memory_order_relaxed); }

  Cells *grow(int64_t bottom) {
    Cells *old = cells_.load(std::memory_order_relaxed);
    all_.push_back(std::make_unique<Cells>(old ? 2 * (old->mask + 1) : 64));
    Cells *cells = all_.back().get();
    for (int64_t i = top_.load(std::memory_order_acquire); i < bottom; ++i)
      cells->at(i).store(old->at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
    cells_.store(cells, std::memory_order_release);
    return cells;
  }

  alignas(64) std::atomic<int64_t> top_{0};
  alignas(64) std::atomic<int64_t> bottom_{0};
  std::atomic<Cells *> cells_{nullptr};
  /// also outgrown ones, because a thief may still read them
  std::vector<std::unique_ptr<Cells>> all_;
  bool alone_ = false;
};

} // namespace ptl::rt
