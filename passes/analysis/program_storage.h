// How much memory the intermediate arrays of a program take, before it runs: by the lengths of its
// dimensions.
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
  /// Bytes of all, which no order exceeds. Empty where arrays are made in loops: then each round
  /// that runs ahead adds its own.
  std::string most;
};

/// Bytes of an array: a number times lengths, by name.
struct ArrayBytes {
  int64_t factor = 0;
  std::vector<std::string> lengths; ///< ascending
};
ArrayBytes bytesOf(mlir::Type array);

/// Numbers of arrays, ascending.
using LiveSet = std::vector<unsigned>;

/// Adds a set of arrays that are live at once; of sets of which one holds another only the larger
/// stays.
void keepLarger(std::vector<LiveSet> &sets, LiveSet set);

/// By the sets of arrays that are live at once. `inLoops`: some array is made in a loop.
ProgramStorage storageOf(llvm::ArrayRef<ArrayBytes> arrays, llvm::ArrayRef<LiveSet> sets,
                         bool inLoops);

/// Of the host code of a chip: storage, and the copies that it makes of parts of arrays.
ProgramStorage storageOf(mlir::Operation *host);

} // namespace ptl::ir
