// The memory of this process.
#pragma once

#include <cstdint>

namespace ptl {

/// Bytes of the process that are in memory; 0 if the system does not say.
int64_t residentBytes();

} // namespace ptl
