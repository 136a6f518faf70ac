#pragma once

#include "runtime/context.h"
#include "runtime/schedule/task_window.h"

#include <unordered_map>

namespace ptl::rt {

/// One run of a program: its tasks, and the arrays they work on by address.
class ProgramRun {
public:
  /// The window lends its threads and memory to one run at a time.
  ProgramRun(PtlContext &context, TaskWindow &window);
  ~ProgramRun();

  void submit(PtlBody body, int64_t count, const void *closure, int64_t closureBytes,
              const int64_t *accesses, int32_t accessCount);
  void await(const int64_t *access);
  void release(void *memory);

  /// Stops what comes later in program order than the code that asks, and gives that place: larger
  /// is later.
  uint64_t failAt();

private:
  struct Storage {
    StorageId id;
    size_t rank;
  };
  Storage &storageOf(int64_t address, size_t rank);
  const int64_t *read(const int64_t *words, Access &access);
  Box wholeBox(size_t rank);

  PtlContext &context_;
  TaskWindow &window_;
  std::unordered_map<int64_t, Storage> storages_;
  std::vector<Access> accesses_;
  std::vector<Axis> axes_, whole_;
  ClosureBuffer closure_;
};

/// Windows between runs, so that a program that runs often is not set up each time.
class WindowCache {
public:
  static std::unique_ptr<TaskWindow> take(int threads);
  static void giveBack(std::unique_ptr<TaskWindow> window, int threads);
};

} // namespace ptl::rt
