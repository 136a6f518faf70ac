// Attention as one grid.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Turns `softmax(q @ k.T) @ v` into one grid that keeps the scores on chip, if the blocks of rows
/// occupy enough core groups; if that depends on lengths, a branch decides at run time. `halvings`:
/// how often blocks are halved to save memory.
void makeAttentions(mlir::func::FuncOp function, const Machine &machine, int64_t halvings);

} // namespace ptl::ir
