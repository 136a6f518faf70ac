#pragma once

#include <cstdint>

namespace ptl::rt {

/// How many bytes an array has at least whose elements should be stored past the caches (PTL_RT_STREAMED_FROM): as many as the
/// last cache of this machine holds, or what the environment variable PTL_STREAM_BYTES says. The same in all calls.
int64_t streamedFromBytes();

} // namespace ptl::rt
