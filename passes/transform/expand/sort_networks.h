// Short axes in order, element by element.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Rewrites `sort` and `argsort` of whole arrays along short axes of known lengths as comparisons of
/// neighbours, each for all rows at once: the instructions that sort take as long for 5 elements as for 32.
void sortByNetworks(mlir::func::FuncOp function);

} // namespace ptl::ir
