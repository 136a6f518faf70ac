// Builds manual kernels: a grid of the block level for each `parallel`, events and their ids,
// points of the grid.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Builds one grid for each `parallel`, with the declarations before it, or one grid for a whole
/// body without `parallel`.
void buildManual(BuildContext &c, const CallableDecl &decl);
/// Builds a section, whose contents are for one kind of core.
void buildSection(BuildContext &c, const OnStmt &stmt);

} // namespace ptl::ir
