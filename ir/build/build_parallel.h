// Builds grids of kernels and programs. Those of manual kernels are in build_manual.h.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Variables whose bounds do not depend on earlier ones share one grid; a dependent one starts a
/// nested grid, unless it cuts the tiles of the one before it on a chip. `from` is the first variable that has not been built.
void buildParallel(BuildContext &c, const ParallelStmt &stmt, size_t from = 0);
/// Whether the bounds of variable `to` depend on a variable in `[from, to)`.
bool dependsOnHeads(const ParallelStmt &stmt, size_t from, size_t to);

} // namespace ptl::ir
