// How long the scheduler lets a thread run while others wait (Linux 6.12 and later).
#pragma once

#include <chrono>
#include <cstdint>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ptl {

/// Asks the system to run the calling thread for `slice` at a time. A thread with short slices that
/// wakes up preempts a running one with long slices, so threads that answer requests use short
/// ones, and threads that compute use long ones. The shares of processor time do not change.
/// Systems without support for slices ignore the call. Threads and processes that the thread starts
/// have the default slice if `isOwn`, otherwise the same slice.
inline void askTimeSlice(std::chrono::microseconds slice, bool isOwn) {
#if defined(__linux__) && defined(SYS_sched_getattr) && defined(SYS_sched_setattr)
  // The C library has no declaration of this; the first version of the structure is enough.
  struct Attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  };
  constexpr uint32_t usualPolicy = 0;
  constexpr uint64_t resetOnFork = 1;
  Attributes attributes{sizeof(Attributes), 0, 0, 0, 0, 0, 0, 0};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != usualPolicy)
    return;
  attributes.size = sizeof attributes;
  attributes.runtime =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(slice).count());
  attributes.flags = isOwn ? resetOnFork : 0;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
#else
  (void)slice, (void)isOwn;
#endif
}

} // namespace ptl
