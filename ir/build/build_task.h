// Tasks: statements with a name, and the order that a schedule asks for.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// What it computes is kept apart from what is around it, and bears its name. It is a unit that
/// `order` of a schedule moves.
void buildTask(BuildContext &c, const TaskStmt &stmt);
/// Puts tasks into the order that the schedule asks for: program order is the order in which they
/// are handed to the scheduler.
void orderTasks(BuildContext &c, mlir::Block &in);

} // namespace ptl::ir
