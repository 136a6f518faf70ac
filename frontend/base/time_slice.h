// How long the processor stays with a thread while others wait for it (Linux 6.12 and later).
#pragma once

#include <chrono>
#include <cstdint>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ptl {

/// Asks the system to run the calling thread for `slice` at a time. A thread with short slices that
/// wakes up runs before one with long slices that is running: who answers somebody takes short ones,
/// who computes takes long ones. Shares of the processor stay as they are, and so does everything
/// where the system does not know of slices. Threads and processes that it starts have the usual
/// slice when `isOwn`, else the same.
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
