// Determines the parts on which the stages of a program run: one for each number of the loop over
// them.
#pragma once

#include "codegen/parts/grid.h"

namespace ptl::parts {

/// Enters the parts of stages whose numbers are known by now into the placements of the values from
/// `begin` to `end`.
void settle(PlacedProgram &placed, ValueId begin, ValueId end, const Grid &grid,
            const DimLookup &number);

} // namespace ptl::parts
