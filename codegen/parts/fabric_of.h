// What stands between the chips of a machine, from the `levels` of its file.
#pragma once

#include "codegen/parts/grid.h"
#include "machines/levels.h"
#include "runtime/movement/fabric.h"

namespace ptl::parts {

movement::Fabric fabricOf(const MachineLevels &levels);

/// As many parts as the machine has of each level of the program that it knows.
MachineShape wholeShape(const std::vector<PlacedLevel> &placed, const MachineLevels &levels);

/// Of a size that nobody gave.
inline constexpr int64_t kAssumedSize = 4096;

} // namespace ptl::parts
