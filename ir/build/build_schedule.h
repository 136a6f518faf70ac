// What the schedule that applies says of values and grids: in place, or as attributes for the
// passes. What can have no effect on this machine is told.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// The value of a `let`, at the place that the schedule gives it, with the rest as attributes of
/// the operation that makes it.
mlir::Value applySchedule(BuildContext &c, const Local &local, mlir::Value value);
/// How the one product that a value is computed with goes through the operand buffers.
void pinProduct(BuildContext &c, const Local &local, mlir::Value value);
/// How many core groups do the points of a kernel.
void scheduleGrid(BuildContext &c, ParallelOp grid);
/// Marks what was built since, and not marked before, as done by so many core groups.
void shareCores(BuildContext &c, int64_t cores, mlir::Block &in, mlir::Operation *before);

/// Keeps why what the schedule says of a local, if it says anything, has no effect.
void cannotSchedule(BuildContext &c, const Local &local, const std::string &why);
/// Reports that an item has no effect, once.
void refuse(BuildContext &c, Span at, const std::string &item, const std::string &why);
/// Reports what the present declaration's schedule says, and nothing came of.
void refuseUntaken(BuildContext &c);

} // namespace ptl::ir
