// `scatter` by positions that are sorted first.
#pragma once

#include "passes/transform/expand/expand_tensors.h"

namespace ptl::ir {

/// Expands a `scatter` by sorting its positions. False where the machine lacks instructions for it, or
/// where positions are so few that elements are written one by one.
bool expandScatterInOrder(ScatterOp scatter, int64_t tileBytes, const Machine *machine);

} // namespace ptl::ir
