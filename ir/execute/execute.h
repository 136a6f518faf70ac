// Executes functions of the `ptl` dialect, at tensor level and at tile level, so that the result of
// a pass can be compared with its input. See README.md.
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
  /// The seed for the order of the points of grids; without one they run in row-major order.
  std::optional<uint64_t> shuffle;
  /// The number of operations after which the program counts as non-terminating.
  uint64_t maxOperations = uint64_t(1) << 32;
};

struct Result {
  reference::RunStatus status = reference::RunStatus::Ok;
  std::string message; ///< why it stopped, with its place
  /// The final contents of each argument that is storage, in order.
  std::vector<reference::RefArray> storage;

  bool ok() const { return status == reference::RunStatus::Ok; }
};

/// Calls a function with one value per argument; those of storage have its initial contents. The
/// results of operations are compared with their types as far as these are constant. `Unsupported`:
/// the function has operations of the block level.
Result execute(mlir::func::FuncOp function, std::vector<reference::Value> arguments,
               const Options &options = {});

} // namespace ptl::execute
