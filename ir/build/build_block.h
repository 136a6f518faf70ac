// What stands in manual kernels: declarations of the block level, and which function builds its
// operations.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// A buffer or a queue; ids of events have been given before (build_manual.h).
void buildBlockDecl(BuildContext &c, const BlockDeclStmt &stmt);
Bound buildBlockExpr(BuildContext &c, const BlockExpr &call);

} // namespace ptl::ir
