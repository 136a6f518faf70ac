#pragma once

#include "runtime/graph/access_history.h"
#include "runtime/schedule/body_times.h"
#include "runtime/schedule/lane_runner.h"
#include "runtime/schedule/pool.h"

#include <cstring>
#include <memory>
#include <new>

namespace ptl::rt {

/// A buffer for a copy of a closure, aligned for any vector; reused between tasks.
class ClosureBuffer {
public:
  static constexpr std::align_val_t alignment{64};
  ClosureBuffer() = default;
  ClosureBuffer(const ClosureBuffer &) = delete;
  ~ClosureBuffer() { ::operator delete(data_, alignment); }

  char *data() const { return data_; }
  /// Makes room for this many bytes; the contents are lost.
  char *resize(size_t bytes) {
    if (bytes > capacity_) {
      ::operator delete(data_, alignment);
      data_ = static_cast<char *>(::operator new(bytes, alignment));
      capacity_ = bytes;
    }
    return data_;
  }

private:
  char *data_ = nullptr;
  size_t capacity_ = 0;
};

/// Limits on the part of a growing graph that exists at once.
struct WindowLimits {
  uint32_t tasks = 1024;
  uint32_t edges = 16384;
  /// With one thread a task runs when it is submitted. With several threads, a task without
  /// unfinished predecessors runs when it is submitted if tasks of its body are known to take no
  /// longer than passing them on. With this set no task runs when it is submitted.
  bool deferAlways = false;
};

/// A graph that is built while it runs: a program submits tasks in order, and each runs as soon as
/// its predecessors are complete. The limits bound the memory: a program that exceeds them runs
/// tasks until there is room. That terminates, because no submitted task waits for one that has not
/// been submitted, so all tasks in the window can run to completion.
class TaskWindow {
public:
  explicit TaskWindow(int threads, const WindowLimits &limits = {},
                      const SchedulePolicy &policy = {.levels = 1, .oldestFirst = true});
  ~TaskWindow();
  TaskWindow(const TaskWindow &) = delete;
  TaskWindow &operator=(const TaskWindow &) = delete;

  /// Calls `program` on this thread, with the pool's other threads as lanes, and returns when all
  /// submitted tasks are complete. `arguments` are passed to the bodies. Only the program may call
  /// the functions below.
  void run(ThreadPool &pool, void (*program)(void *), void *argument, void *arguments = nullptr);

  StorageId addStorage(size_t rank) { return history_.addStorage(rank); }
  /// Declares that no later task names the storage; its number may be reused.
  void forgetStorage(StorageId storage) { history_.forget(storage); }

  /// Submits a task with a copy of `closureBytes` of the spec's closure. Returns the task's number,
  /// from 1.
  uint64_t submit(const TaskSpec &spec, size_t closureBytes, std::span<const Access> accesses) {
    auto copy = [&](char *to) {
      if (closureBytes != 0)
        std::memcpy(to, spec.closure, closureBytes);
    };
    return submit(spec, closureBytes, copy, accesses);
  }
  /// The same; `fill(char *)` writes the closure in place.
  template <class Fill>
  uint64_t submit(const TaskSpec &spec, size_t closureBytes, Fill fill,
                  std::span<const Access> accesses) {
    fill(begin(closureBytes));
    return submitBegun(spec, accesses);
  }

  /// Submits a task with known predecessors, which may be complete. Later tasks are not ordered
  /// after its accesses, unless `remember` records them.
  template <class Fill>
  TaskRef submitAfter(const TaskSpec &spec, size_t closureBytes, Fill fill,
                      std::span<const TaskRef> predecessors) {
    fill(begin(closureBytes));
    return submitBegunAfter(spec, predecessors);
  }
  /// Records the accesses of a task submitted by `submitAfter`. Must be called in program order,
  /// and before later calls of `submit`.
  void remember(TaskRef task, std::span<const Access> accesses);
  bool isComplete(TaskRef task) const {
    return inOrder_ || slots_[task.slot].completed.load(std::memory_order_acquire) >= task.sequence;
  }

  /// Runs tasks until none is left that conflicts with the access.
  void await(const Access &access);
  /// Runs tasks until this one is complete.
  void await(TaskRef task);
  void awaitAll();
  /// Runs tasks until the condition holds or no task is left.
  template <class Condition> void helpUntil(Condition condition) {
    if (!condition())
      helpUntil([](void *holds) { return (*static_cast<Condition *>(holds))(); }, &condition);
  }

  uint64_t submitted() const { return submitted_; }
  /// Whether tasks run when they are submitted, so that there is never one to wait for.
  bool isInOrder() const { return inOrder_; }

  /// The maximal numbers of accesses, tasks and edges held so far.
  size_t peakAccesses() const { return history_.peak(); }
  size_t peakTasks() const { return slotsUsed_; }
  size_t peakEdges() const { return edgesUsed_; }

private:
  void helpUntil(bool (*condition)(void *), void *argument);
  friend class LaneRunner<TaskWindow>;
  struct Edge {
    Edge *next;
    TaskId target;
  };
  static constexpr size_t keptPredecessors = 6;
  struct alignas(64) Slot {
    std::atomic<uint64_t> completed{0};
    std::atomic<Edge *> successors{nullptr};
    std::atomic<int32_t> waiting{0};
    TaskKind kind = TaskKind::Host;
    uint8_t predecessorCount = 0;
    uint64_t sequence = 0;
    TaskBody body = nullptr;
    int64_t points = 1, grain = 1;
    ClosureBuffer closure;
    WideState wide;
    TaskId nextFree = kNoTask;
    TaskRef predecessors[keptPredecessors];
    bool isWide() const { return points > grain; }
  };
  struct alignas(64) LaneCount {
    std::atomic<uint64_t> completed{0};
  };

  TaskKind kindOf(TaskId task) const { return slots_[task].kind; }
  int levelOf(TaskId) const { return 0; }
  int64_t pointsOf(TaskId task) const { return slots_[task].points; }
  int64_t grainOf(TaskId task) const { return slots_[task].grain; }
  WideState &wideOf(TaskId task) { return slots_[task].wide; }
  void run(TaskId task, int64_t begin, int64_t end);
  void runSlot(Slot &slot, int64_t begin, int64_t end, uint64_t every);
  template <class OnReady> void release(LaneId lane, TaskId task, OnReady onReady);

  template <class Condition> void waitUntil(Condition condition);
  uint64_t completedCount() const;
  TaskId takeSlot();
  Edge *takeEdge();
  void prune();
  bool link(TaskRef predecessor, TaskId target);
  void runNow(const TaskSpec &spec);
  char *begin(size_t closureBytes);
  uint64_t submitBegun(const TaskSpec &spec, std::span<const Access> accesses);
  TaskRef submitBegunAfter(const TaskSpec &spec, std::span<const TaskRef> predecessors);
  TaskRef enter(const TaskSpec &spec);
  void start(TaskId task, std::span<const TaskRef> predecessors);
  void startReady(TaskId task);
  void runHere(TaskId task);
  void runLanes(int64_t chunks);

  static Edge *closed() { return reinterpret_cast<Edge *>(uintptr_t(1)); }

  WindowLimits limits_;
  bool inOrder_;
  bool runsShort_; ///< short tasks run where they are submitted
  BodyTimes times_;
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<Edge[]> edges_;
  AccessHistory history_;
  std::vector<TaskRef> predecessors_;
  std::vector<std::pair<uint64_t, uint64_t>> implied_;
  std::vector<LaneCount> lanes_;
  uint64_t submitted_ = 0;
  TaskId begun_ = kNoTask;
  ClosureBuffer closure_; ///< of a task that runs when it is submitted
  TaskId freeSlots_ = kNoTask;
  Edge *freeEdges_ = nullptr;
  uint32_t slotsUsed_ = 0, edgesUsed_ = 0;
  void *arguments_ = nullptr;
  struct Program {
    void (*call)(void *);
    void *argument;
    std::thread::id thread;
    bool isStarted;
  } program_{};
  std::atomic<LaneId> nextLane_{1};
  std::atomic<bool> isClosed_{false};
  alignas(64) std::atomic<TaskId> returnedSlots_{kNoTask};
  alignas(64) std::atomic<Edge *> returnedEdges_{nullptr};
  std::atomic<bool> programWaits_{false};
  LaneRunner<TaskWindow> runner_;
};

} // namespace ptl::rt
