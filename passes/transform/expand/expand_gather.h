// Elements by position.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Expands a store through positions element by element, for any box and value.
void storeByElements(StoreOp store);
/// Expands parts by position (`expandTake`, `expandScatter`), and elements by position: `gather` and `scatter` become grids. False for other
/// operations.
bool expandByPosition(mlir::Operation *op, int64_t tileBytes, const Machine *machine);

} // namespace ptl::ir
