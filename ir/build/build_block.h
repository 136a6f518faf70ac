// Builds the contents of manual kernels: declarations of the block level, and operations,
// dispatched by their kind.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Builds a buffer or a queue. The ids of events must have been assigned (build_manual.h).
void buildBlockDecl(BuildContext &c, const BlockDeclStmt &stmt);
Bound buildBlockExpr(BuildContext &c, const BlockExpr &call);

} // namespace ptl::ir
