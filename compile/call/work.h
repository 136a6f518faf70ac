// The amount of computation of a call: the formulas of the op records, summed over the executed
// operations.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ptl {

/// Operations on floating-point numbers, as the records count them.
struct Work {
  int64_t flops = 0;
  int64_t doubleFlops = 0; ///< those of `flops` that involve `f64`

  Work operator+(const Work &other) const {
    return {flops + other.flops, doubleFlops + other.doubleFlops};
  }
  Work operator*(int64_t times) const { return {flops * times, doubleFlops * times}; }
  bool operator==(const Work &) const = default;
};

/// The known properties of an argument of the function: the extents of an array, or the value of an
/// integer.
struct KnownArgument {
  std::vector<int64_t> extents;
  std::optional<int64_t> value;
};

/// The work of one call of the only function of a tensor-level module with those arguments. Loops,
/// lengths and branches that depend on the arguments are evaluated. Returns nothing if the count
/// depends on data, or if the evaluation would take longer than a measurement is worth.
std::optional<Work> countWork(mlir::ModuleOp module, const std::vector<KnownArgument> &arguments);

/// What an operation computes and moves between memory and registers, summed over its executions.
struct OpWork {
  int64_t executions = 0;
  /// multiply-adds of a product; otherwise operations as fast as an addition
  int64_t operations = 0;
  std::vector<int64_t> read; ///< bytes of arrays in memory, by operand
  int64_t written = 0;       ///< bytes

  void add(const OpWork &other, int64_t times = 1) {
    executions += other.executions * times;
    operations += other.operations * times;
    written += other.written * times;
    read.resize(std::max(read.size(), other.read.size()));
    for (size_t i = 0; i < other.read.size(); ++i)
      read[i] += other.read[i] * times;
  }
  bool isNothing() const {
    return operations == 0 && written == 0 &&
           std::all_of(read.begin(), read.end(), [](int64_t bytes) { return bytes == 0; });
  }
};

struct WorkByOp {
  std::map<mlir::Operation *, OpWork> ops;       ///< those with any work, and grids
  llvm::DenseMap<mlir::Value, int64_t> memories; ///< bytes of the arrays that are in memory
  std::vector<mlir::Operation *>
      assumed; ///< branches taken, and loops run once, because data decide
};

/// The same for each operation, at tile level. Branches that data decide are assumed taken, and
/// `while` loops run once. Returns nothing if data decide the iterations of a `for`, or lengths.
std::optional<WorkByOp> countWorkByOp(mlir::ModuleOp module,
                                      const std::vector<KnownArgument> &arguments);

} // namespace ptl
