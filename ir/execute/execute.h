// Executes functions of the `ptl` dialect, at tensor level and at tile level, so that what a pass
// made can be compared with what it was given. See README.md.
#pragma once

#include "codegen/reference/status.h"
#include "codegen/reference/value.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptl::execute {

struct Options {
  /// Points of grids run in an order drawn from this seed; without one, in order.
  std::optional<uint64_t> shuffle;
  /// Operations that may run before it is said that there is no end.
  uint64_t maxOperations = uint64_t(1) << 32;
};

struct Result {
  reference::RunStatus status = reference::RunStatus::Ok;
  std::string message; ///< why it stopped, with its place
  /// Of each argument that is storage, in order: what it holds at the end.
  std::vector<reference::RefArray> storage;

  bool ok() const { return status == reference::RunStatus::Ok; }
};

/// Calls a function with one value per argument; those of storage hold what it begins with. What
/// an operation makes is compared with its type as far as that says numbers. `Unsupported`: the
/// function has operations of the block level.
Result execute(mlir::func::FuncOp function, std::vector<reference::Value> arguments,
               const Options &options = {});

} // namespace ptl::execute
