// Builds tasks, which are named blocks of statements, and orders them by the schedule.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Builds a task. Its computations are not fused with those around it and carry its name; `order`
/// of a schedule moves it as a unit.
void buildTask(BuildContext &c, const TaskStmt &stmt);
/// Puts tasks into the order of the schedule. Tasks are submitted in program order.
void orderTasks(BuildContext &c, mlir::Block &in);

} // namespace ptl::ir
