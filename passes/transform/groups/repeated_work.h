// Work that the tiles of a group would do several times: what comes before a reduction along a long
// axis is computed in each pass over that axis, because the tiles of a row do not stay in memory; and
// what lacks an axis of the group is computed for each tile along it.
#pragma once

#include "passes/transform/groups/op_group.h"

namespace ptl::ir {

/// Whether a member of the group is computed in several passes over an axis that is folded, or from
/// stored arrays for each tile along an axis that it lacks, and with so many instructions, its operands
/// included, that storing it once and loading it each time takes less time.
bool isWorthStoring(const OpGroup &group, mlir::Operation *member);

} // namespace ptl::ir
