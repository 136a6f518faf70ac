// How much memory the intermediate arrays of a program take, before it runs: by the lengths of its
// dimensions.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace ptl::ir {

struct ProgramStorage {
  int64_t arrays = 0; ///< intermediates
  /// Bytes that are live at once when its tasks run in order, each array from its first to its last
  /// use: `max(4*N*F, 8*N)`. Empty if there are none.
  std::string inOrder;
  /// Bytes of all, which no order exceeds. Empty where arrays are made in loops: then each round
  /// that runs ahead adds its own.
  std::string most;
};

/// Of the host code of a chip, or a function at tile level: storage, and the copies that it makes of
/// parts of arrays. What is in grids does not count.
ProgramStorage storageOf(mlir::Operation *host);

} // namespace ptl::ir
