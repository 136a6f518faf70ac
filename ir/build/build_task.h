// Builds tasks, that is, statements with a name, and orders them as a schedule asks.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Builds a task. Its computations are kept apart from those around it and have its name, and
/// `order` of a schedule moves it as a unit.
void buildTask(BuildContext &c, const TaskStmt &stmt);
/// Puts tasks into the order of the schedule. Program order is the order in which they are
/// submitted.
void orderTasks(BuildContext &c, mlir::Block &in);

} // namespace ptl::ir
