// Where the stages of a program run: a part for each number that the loop over them has.
#pragma once

#include "codegen/parts/grid.h"

namespace ptl::parts {

/// Writes down, in the placements of values, the parts of stages whose numbers are known.
void settle(PlacedProgram &placed, ValueId begin, ValueId end, const Grid &grid,
            const DimLookup &number);

} // namespace ptl::parts
