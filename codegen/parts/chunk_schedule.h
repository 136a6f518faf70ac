// What a schedule says about the movements of a program on parts.
#pragma once

#include "codegen/parts/grid.h"

namespace ptl::parts {

/// Enters into the movements of a program in how many chunks they go, as the schedule says that applies on a machine to these sizes:
/// the first for the machine whose `when` holds, or else the first for all machines.
void applySchedule(const CheckedProgram &program, std::string_view machine, const DimLookup &size,
                   PlacedProgram &placed);

} // namespace ptl::parts
