// Parts of arrays: which elements an index expression selects, and reading and writing these. The
// positions have been checked, or lie partly outside where that is allowed.
#pragma once

#include "codegen/reference/value.h"
#include "frontend/sema/checked_stmt.h"

namespace ptl::reference {

/// The elements that an index expression selects: one entry per axis of the base in order, and the
/// places of new axes.
struct Region {
  struct Axis {
    int64_t base = -1; ///< axis of the base; -1: a new axis
    int64_t start = 0, step = 1, length = 1;
    bool dropped = false; ///< a position
    bool isGather = false;
  };
  std::vector<Axis> axes;
  std::vector<int64_t> positions; ///< of the gathered axis

  /// Without the dropped axes.
  std::vector<int64_t> shape() const;
};

/// The elements of a region that lies within its array: a scalar if all axes have a position, and
/// undefined if nothing has written that. Of an array the elements that were not written stay marked.
Value readRegion(const RefArray &base, const Region &region);

/// The elements of a region, with `outside`, a scalar, where it lies beyond the edges.
Value readOutside(const RefArray &base, const Region &region, const Value &outside);

/// Sets the elements of a region, or combines them with `value`, which is repeated to its shape. If
/// an index array of a store names a position twice, the run stops at `span`.
void writeRegion(RefArray &base, const Region &region, const Value &value, AssignMode mode,
                 Span span);

/// The operation by which an atomic assignment combines.
OpId combiningOp(AssignMode mode);

} // namespace ptl::reference
