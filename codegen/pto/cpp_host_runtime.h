// What code of hosts needs of the runtime, as C++ text.
#pragma once

#include "codegen/pto/line_map.h"

namespace ptl::pto {

/// Adds the class `Storage`, which is memory of the device or, in CPU simulation, of this machine,
/// and the functions `require`; with `facts` also `isSorted` and `isUnique`.
void addHostRuntime(TextLines &text, bool facts);

} // namespace ptl::pto
