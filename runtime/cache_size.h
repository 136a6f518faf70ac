// The size of the last cache, by which compiled code decides how it stores.
#pragma once

#include <cstdint>

namespace ptl::rt {

/// Returns the size in bytes from which on an array should be stored past the caches (PTL_RT_STREAMED_FROM in the kernel ABI):
/// what the last cache of this machine holds, or what the environment variable PTL_STREAM_BYTES says. All calls return the same.
int64_t streamedFromBytes();

} // namespace ptl::rt
