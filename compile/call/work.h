// How much a call computes: the formulas of the op records, summed over what runs.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
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

/// The known properties of an argument of the function: the extents of an array, the value of an
/// integer.
struct KnownArgument {
  std::vector<int64_t> extents;
  std::optional<int64_t> value;
};

/// The work of one call of the only function of a tensor-level module with those arguments. Loops,
/// lengths and branches that depend on the arguments are followed. Returns nothing when the count
/// depends on data, or when following would take longer than a measurement is worth.
std::optional<Work> countWork(mlir::ModuleOp module, const std::vector<KnownArgument> &arguments);

} // namespace ptl
