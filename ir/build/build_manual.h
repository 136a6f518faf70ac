// Manual kernels: a grid of the block level per `parallel`, events and their ids, points of the
// grid.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// One grid per `parallel`, each with the declarations before it; one for all of a body without
/// `parallel`.
void buildManual(BuildContext &c, const CallableDecl &decl);
/// What stands in it is for one kind of core.
void buildSection(BuildContext &c, const OnStmt &stmt);

} // namespace ptl::ir
