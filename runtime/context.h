#pragma once

#include "runtime/abi/kernel_abi.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

namespace ptl::rt {

/// Why a call stopped: a PtlStatus, its message, and the PTL source line if there is one.
struct Failure {
  int32_t code = PTL_OK;
  std::string message;
  std::string file;
  int32_t line = 0;
  /// The place in program order at which the call failed. Tasks may fail in any order; the failure
  /// that comes first in program order is reported.
  uint64_t order = 0;
  /// The simulator stopped at a decision that depends on data which the run does not have; with the
  /// data the call would continue.
  bool lacksValues = false;

  explicit operator bool() const { return code != PTL_OK; }
};

class ThreadPool;
class ProgramRun;
class Recorder;

} // namespace ptl::rt

/// The state of one running entry. One per call; the threads of its loops share it.
struct PtlContext {
  explicit PtlContext(ptl::rt::ThreadPool &threads);
  /// Frees memory from `ptl_rt_alloc` that has not been freed.
  ~PtlContext();
  PtlContext(const PtlContext &) = delete;
  PtlContext &operator=(const PtlContext &) = delete;

  /// Allocates memory that is freed at the end of the call at the latest. Returns nullptr, with a
  /// failure recorded, if there is none. Thread-safe.
  void *allocate(int64_t bytes);
  void free(void *memory);
  static int64_t bytesOf(const void *memory);
  /// Resets the context as if nothing had failed. A program that was run only to record the tasks
  /// that it submits may have failed on uninitialised memory.
  void forgetFailure();

  // Must be the first member, because compiled code reads it.
  std::atomic<int32_t> status{PTL_OK};
  int64_t streamedFrom; ///< bytes, see PTL_RT_STREAMED_FROM
  ptl::rt::ThreadPool *pool;
  /// Not null while a program runs.
  ptl::rt::ProgramRun *program = nullptr;
  /// The recorder of the thread that made this context; usually null.
  ptl::rt::Recorder *recorder;
  // Guards all members below.
  std::mutex mutex;
  ptl::rt::Failure failure;
  struct Allocation *allocations = nullptr;
};

static_assert(offsetof(PtlContext, status) == 0);
static_assert(offsetof(PtlContext, streamedFrom) == PTL_RT_STREAMED_FROM);
