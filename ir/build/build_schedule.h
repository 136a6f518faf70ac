// Applies the schedule to values and grids: in place, or as attributes for the passes. Items that
// can have no effect on this machine are reported.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// The value of a `let`, at the place that the schedule gives it, with the rest as attributes of
/// the operation that makes it.
mlir::Value applySchedule(BuildContext &c, const Local &local, mlir::Value value);
/// Sets the steps in which the product that computes a value goes through the operand buffers, if
/// it is the only one.
void pinProduct(BuildContext &c, const Local &local, mlir::Value value);
/// Sets the number of core groups that run the points of a kernel.
void scheduleGrid(BuildContext &c, ParallelOp grid);
/// Marks operations that were built since `before`, and are not marked yet, to run on `cores` core
/// groups.
void shareCores(BuildContext &c, int64_t cores, mlir::Block &in, mlir::Operation *before);

/// Stores the reason why schedule items for a local, if there are any, have no effect.
void cannotSchedule(BuildContext &c, const Local &local, const std::string &why);
/// Reports that an item has no effect, once.
void refuse(BuildContext &c, Span at, const std::string &item, const std::string &why);
/// Reports the items of the present declaration's schedule that were not used.
void refuseUntaken(BuildContext &c);

} // namespace ptl::ir
