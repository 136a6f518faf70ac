// The size of the last-level cache, by which compiled code chooses between ordinary and streamed
// stores.
#pragma once

#include <cstdint>

namespace ptl::rt {

/// Returns the size in bytes from which on an array should be stored past the caches
/// (PTL_RT_STREAMED_FROM in the kernel ABI): the capacity of the last-level cache of this machine,
/// or the value of the environment variable PTL_STREAM_BYTES. All calls return the same.
int64_t streamedFromBytes();

} // namespace ptl::rt
