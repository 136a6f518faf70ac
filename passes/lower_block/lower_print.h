// Lowers prints in kernels.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Lowers a print to one `tprint` for each of its values; scalars are tiles of one element. A chip
/// prints tiles alone, so the texts of the line are notes for the simulator (`attrs::texts`). A line
/// without values prints the number of its line in the source.
void lowerPrint(KernelContext &c, ir::PrintOp print);

} // namespace ptl::block
