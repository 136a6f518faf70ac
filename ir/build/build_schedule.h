// Applies the schedule to values and grids: directly, or as attributes for the passes. Items that
// cannot have an effect on this machine are reported.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// The value of a `let`, in the memory that the schedule assigns; other items become attributes of
/// the operation that computes it.
mlir::Value applySchedule(BuildContext &c, const Local &local, mlir::Value value);
/// Sets the tile sizes by which the product that computes a value passes the operand buffers
/// (`l0`), and the chunks of its contraction, if there is a single product.
void pinProduct(BuildContext &c, const Local &local, mlir::Value value);
/// Sets the number of core groups that run the points of a kernel.
void scheduleGrid(BuildContext &c, ParallelOp grid);
/// Marks the unmarked operations that were built since `before` to run on `cores` core groups.
void shareCores(BuildContext &c, int64_t cores, mlir::Block &in, mlir::Operation *before);

/// Records why schedule items for a local, if there are any, have no effect.
void cannotSchedule(BuildContext &c, const Local &local, const std::string &why);
/// Reports, once, that an item has no effect.
void refuse(BuildContext &c, Span at, const std::string &item, const std::string &why);
/// Reports the items of the present declaration's schedule that were not used.
void refuseUntaken(BuildContext &c);

} // namespace ptl::ir
