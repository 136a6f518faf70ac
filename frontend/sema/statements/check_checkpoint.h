// The clause `checkpoint "run" every 100` of a loop.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Checks the clause of a loop whose head has been checked; null, after a report, if the clause is
/// not allowed there.
CheckpointClause *checkCheckpoint(Context &ctx, NodeId node, const ForStmt &loop);

} // namespace ptl
