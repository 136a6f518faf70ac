#pragma once

#include "runtime/kernel_abi.h"

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

} // namespace ptl::rt

/// The state of one running entry. One per call; the threads of its loops share it.
struct PtlContext {
  explicit PtlContext(ptl::rt::ThreadPool &threads);
  /// Frees what `ptl_rt_alloc` gave and nobody freed.
  ~PtlContext();
  PtlContext(const PtlContext &) = delete;
  PtlContext &operator=(const PtlContext &) = delete;

  // Compiled code reads these bits, so they come first.
  std::atomic<int32_t> status{PTL_OK};
  ptl::rt::ThreadPool *pool;
  /// While a program runs.
  ptl::rt::ProgramRun *program = nullptr;
  // Guards what follows.
  std::mutex mutex;
  ptl::rt::Failure failure;
  struct Allocation *allocations = nullptr;
};

static_assert(offsetof(PtlContext, status) == 0);
