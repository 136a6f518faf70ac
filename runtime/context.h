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
  /// When program order reaches the place: that failure is reported which comes first.
  uint64_t order = 0;

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

  /// Memory of the call, freed with it at the latest; nullptr with a recorded failure if there is
  /// none. For any thread.
  void *allocate(int64_t bytes);
  void free(void *memory);
  static int64_t bytesOf(const void *memory);
  /// As if nothing had failed: of a program that was run to see what it submits.
  void forgetFailure();

  // Compiled code reads these bits, so they come first.
  std::atomic<int32_t> status{PTL_OK};
  ptl::rt::ThreadPool *pool;
  /// While a program runs.
  ptl::rt::ProgramRun *program = nullptr;
  /// Of the thread that made this, usually null.
  ptl::rt::Recorder *recorder;
  // Guards what follows.
  std::mutex mutex;
  ptl::rt::Failure failure;
  struct Allocation *allocations = nullptr;
};

static_assert(offsetof(PtlContext, status) == 0);
