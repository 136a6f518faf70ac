// Which groups one grid may compute.
#pragma once

#include "passes/transform/groups/op_group.h"

namespace ptl::ir {

/// Whether two groups have the same tiles: the same axes are cut, along the same lengths. Tiles that are
/// matrices have to be those of products, or the same positions one by one.
bool haveSameTiles(const OpGroup &a, const OpGroup &b);

/// Whether one grid may compute these groups behind the last of their roots: nothing in between needs what one of them stores, and their
/// stores may stand there.
bool maySettleTogether(llvm::ArrayRef<OpGroup *> groups);

/// Whether groups may be computed by one grid although no schedule says so: their roots have the same shape, and the tiles would be as large
/// for each of them alone.
bool mayShareGrid(llvm::ArrayRef<OpGroup *> groups);

/// The groups in the order of their roots in the program.
void sortByRoots(llvm::MutableArrayRef<OpGroup *> groups);

} // namespace ptl::ir
