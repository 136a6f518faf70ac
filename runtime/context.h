#pragma once

#include "runtime/abi/kernel_abi.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

namespace ptl::rt {

/// What stopped a call: a PtlStatus, its message, and the PTL source line if there is one.
struct Failure {
  int32_t code = PTL_OK;
  std::string message;
  std::string file;
  int32_t line = 0;
  /// The place in program order at which the call failed. Tasks fail in any order, and the failure
  /// that comes first in program order is reported.
  uint64_t order = 0;
  /// The simulator stopped where data decide, in a run that has no values of them: with values the
  /// call would go on.
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
  /// Frees what `ptl_rt_alloc` gave and nobody freed.
  ~PtlContext();
  PtlContext(const PtlContext &) = delete;
  PtlContext &operator=(const PtlContext &) = delete;

  /// Allocates memory that is freed with the call at the latest; returns nullptr, with a failure
  /// recorded, if there is none. Any thread may call it.
  void *allocate(int64_t bytes);
  void free(void *memory);
  static int64_t bytesOf(const void *memory);
  /// Makes the context as if nothing had failed. A program that was run only to see what it submits
  /// may have failed on memory that has no contents.
  void forgetFailure();

  // Compiled code reads these bits, so they come first.
  std::atomic<int32_t> status{PTL_OK};
  int64_t streamedFrom; ///< bytes, see PTL_RT_STREAMED_FROM
  ptl::rt::ThreadPool *pool;
  /// Set while a program runs.
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
