// Decides which groups one grid may compute.
#pragma once

#include "passes/transform/groups/op_group.h"

namespace ptl::ir {

/// Whether two groups have the same tiles: the same axes are cut, along the same lengths. Matrix
/// tiles must be those of products, or have the same single positions.
bool haveSameTiles(const OpGroup &a, const OpGroup &b);

/// Whether one grid may compute these groups after the last of their roots: nothing in between
/// reads what one of them stores, and their stores may move there.
bool maySettleTogether(llvm::ArrayRef<OpGroup *> groups);

/// Whether groups may share a grid without a schedule that says so: their roots have the same
/// shape, and the tiles would be as large for each of them alone.
bool mayShareGrid(llvm::ArrayRef<OpGroup *> groups);

/// Sorts the groups by the position of their roots in the program.
void sortByRoots(llvm::MutableArrayRef<OpGroup *> groups);

} // namespace ptl::ir
