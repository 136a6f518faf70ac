// Parts of arrays: which elements an index expression selects, and how they are read and written.
// The positions have been checked, or lie partly outside where that is allowed.
#pragma once

#include "codegen/reference/value.h"
#include "frontend/sema/checked_stmt.h"

namespace ptl::reference {

/// The elements that an index expression selects: one entry per axis of the base in order, with
/// entries for new axes in between.
struct Region {
  struct Axis {
    int64_t base = -1; ///< axis of the base; -1: a new axis
    int64_t start = 0, step = 1, length = 1;
    bool dropped = false; ///< a single position, so that the result lacks the axis
    bool isGather = false;
  };
  std::vector<Axis> axes;
  std::vector<int64_t> positions; ///< of the gathered axis

  /// The shape of the selected elements, without the dropped axes.
  std::vector<int64_t> shape() const;
};

/// The elements of a region that lies within its array: a scalar if all axes are dropped (undefined
/// if that element was never written), otherwise an array in which unwritten elements stay marked.
Value readRegion(const RefArray &base, const Region &region);

/// The elements of a region, with the scalar `outside` where it lies beyond the edges.
Value readOutside(const RefArray &base, const Region &region, const Value &outside);

/// Assigns to the elements of a region, or combines them with, `value`, which is broadcast to its
/// shape. If an index array of a plain store names a position twice, the run stops at `span`.
void writeRegion(RefArray &base, const Region &region, const Value &value, AssignMode mode,
                 Span span);

/// The operation by which an atomic assignment combines elements.
OpId combiningOp(AssignMode mode);

} // namespace ptl::reference
