// The runtime support that host code needs, as C++ text.
#pragma once

#include "codegen/pto/line_map.h"

namespace ptl::pto {

/// Adds the class `Storage`, which owns memory of the device or, in CPU simulation, of the host,
/// and the functions `require`; with `facts` also `isSorted` and `isUnique`.
void addHostRuntime(TextLines &text, bool facts);

} // namespace ptl::pto
