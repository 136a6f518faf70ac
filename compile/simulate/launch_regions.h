// Computes the array regions that a launch accesses, by which launches are ordered: the boxes of
// its grid for the values of its arguments.
#pragma once

#include "compile/simulate/host_values.h"
#include "runtime/sim/time/timer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <vector>

namespace ptl {

/// An argument of a launch.
struct LaunchArgument {
  std::optional<int64_t> number; ///< of scalars that are positions
  bool isArray = false;
  uint32_t array = 0;
  bool writes = false; ///< the kernel writes it, and may read it too
  bool isWhole = true; ///< the boxes of the grid do not describe it, so it counts as a whole
};

/// The accesses of a launch. `grid` is the function of `block::BlockProgram::grids` from which the
/// kernel was made.
std::vector<rt::sim::ArrayAccess> accessesOfLaunch(mlir::func::FuncOp grid,
                                                   llvm::ArrayRef<LaunchArgument> arguments);

/// The access of the host to a box of an array.
rt::sim::ArrayAccess accessOf(const HostArray &array, const HostBox &box, bool writes);

} // namespace ptl
