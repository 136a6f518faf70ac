// `checkpoint "run" every 100` of a loop.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Checks the clause of a loop whose head has been checked; null where it cannot stand.
CheckpointClause *checkCheckpoint(Context &ctx, NodeId node, const ForStmt &loop);

} // namespace ptl
