// The network between the chips of a machine, from the `levels` of its file.
#pragma once

#include "codegen/parts/grid.h"
#include "machines/levels.h"
#include "runtime/movement/fabric.h"

namespace ptl::parts {

movement::Fabric fabricOf(const MachineLevels &levels);

/// The machine's number of parts for each of the program's levels that its file describes.
MachineShape wholeShape(const std::vector<PlacedLevel> &placed, const MachineLevels &levels);

/// The chips of a fabric that the parts of a program run on. If they do not fit, `why` has the
/// reason.
std::vector<uint32_t> chipsOf(const std::vector<PlacedLevel> &levels, const Grid &grid,
                              const movement::Fabric &fabric, std::string &why);

/// The value assumed for a dimension whose size nobody gave.
inline constexpr int64_t kAssumedSize = 4096;

} // namespace ptl::parts
