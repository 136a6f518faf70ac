// What stands between the chips of a machine, from the `levels` of its file.
#pragma once

#include "codegen/parts/grid.h"
#include "machines/levels.h"
#include "runtime/movement/fabric.h"

namespace ptl::parts {

movement::Fabric fabricOf(const MachineLevels &levels);

/// As many parts as the machine has of each level of the program that it knows.
MachineShape wholeShape(const std::vector<PlacedLevel> &placed, const MachineLevels &levels);

/// The chips of a fabric that the parts of a program stand on; `why` says what does not fit.
std::vector<uint32_t> chipsOf(const std::vector<PlacedLevel> &levels, const Grid &grid,
                              const movement::Fabric &fabric, std::string &why);

/// Of a size that nobody gave.
inline constexpr int64_t kAssumedSize = 4096;

} // namespace ptl::parts
