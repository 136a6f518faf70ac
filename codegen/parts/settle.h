// Determines what of placements depends on numbers: the parts on which stages run, one for each number of the loop over them, and
// the units of blocks.
#pragma once

#include "codegen/parts/grid.h"

namespace ptl::parts {

/// Enters the parts of stages whose numbers are known by now, and the lengths of units, into the placements of the values from
/// `begin` to `end`.
void settle(PlacedProgram &placed, ValueId begin, ValueId end, const Grid &grid,
            const DimLookup &number);

} // namespace ptl::parts
