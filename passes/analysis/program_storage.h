// Computes the memory that the intermediate arrays of a program take before it runs, as formulas of
// its dimensions.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace ptl::ir {

struct ProgramStorage {
  int64_t arrays = 0; ///< intermediates
  /// Bytes that are live at once when its tasks run in order, each array from its first to its last
  /// use: `max(4*N*F, 8*N)`. Empty if there are none.
  std::string inOrder;
  /// The bytes of all arrays together, which no order of the tasks exceeds. Empty where arrays are
  /// made in loops, because then each round that runs ahead adds its own.
  std::string most;
};

/// The bytes of an array: a number times lengths, by name.
struct ArrayBytes {
  int64_t factor = 0;
  std::vector<std::string> lengths; ///< ascending
};
ArrayBytes bytesOf(mlir::Type array);

/// Numbers of arrays, ascending.
using LiveSet = std::vector<unsigned>;

/// Adds a set of arrays that are live at once. If one of two sets contains the other, only the
/// larger is kept.
void keepLarger(std::vector<LiveSet> &sets, LiveSet set);

/// The storage, from the sets of arrays that are live at once. `instead`: arrays that a run has only
/// in place of others that take as much. `inLoops`: some array is made in a loop.
ProgramStorage storageOf(llvm::ArrayRef<ArrayBytes> arrays, llvm::ArrayRef<LiveSet> sets,
                         const LiveSet &instead, bool inLoops);

/// The storage of the host code of a chip, with the copies that it makes of parts of arrays.
ProgramStorage storageOf(mlir::Operation *host);

} // namespace ptl::ir
