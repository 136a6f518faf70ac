// The memory that the intermediate arrays of a program take, computed before it runs, as formulas
// of its dimensions.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace ptl::ir {

struct ProgramStorage {
  int64_t arrays = 0; ///< intermediates
  /// Bytes that are live at once if the tasks run in order, each array from its first to its last
  /// use: `max(4*N*F, 8*N)`. Empty if there are no intermediates.
  std::string inOrder;
  /// The bytes of all arrays together, which no order of the tasks exceeds. Empty if arrays are
  /// created in loops, because each iteration that runs ahead adds its own.
  std::string most;
};

/// The bytes of an array: a number times the product of lengths, by name.
struct ArrayBytes {
  int64_t factor = 0;
  std::vector<std::string> lengths; ///< ascending
};
ArrayBytes bytesOf(mlir::Type array);

/// A set of arrays, by ascending numbers.
using LiveSet = std::vector<unsigned>;

/// Adds a set of arrays that are live at once. If one of two sets contains the other, only the
/// larger is kept.
void keepLarger(std::vector<LiveSet> &sets, LiveSet set);

/// Computes the storage from the sets of arrays that are live at once. `instead`: arrays that
/// replace others of the same size in some runs. `inLoops`: some array is created in a loop.
ProgramStorage storageOf(llvm::ArrayRef<ArrayBytes> arrays, llvm::ArrayRef<LiveSet> sets,
                         const LiveSet &instead, bool inLoops);

/// The storage of the host code of a chip, with the copies that it makes of parts of arrays.
ProgramStorage storageOf(mlir::Operation *host);

} // namespace ptl::ir
