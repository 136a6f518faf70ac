// Computes which elements of a stored value a tile reads. It looks through the views (slices,
// transposes, new axes, repetitions) between the operand of an operation and the value that holds
// the elements.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/axis_map.h"

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// One axis of a value: position = offset + step * (position along the space's axis `id`).
struct AxisAccess {
  int64_t id = kWhole; ///< axis of the iteration space; `kWhole`: one position, the offset
  mlir::Value offset;  ///< null: 0
  mlir::Value step;    ///< null: 1
  int tag = 0;         ///< chosen by the creator of the access, and kept
};

struct Access {
  mlir::Value origin; ///< the value that holds the elements
  llvm::SmallVector<AxisAccess, 4> axes;
  bool isBox = false; ///< a part of the origin, or one with an offset

  AxisMap map() const;
};

/// The access to `value` itself: its axes correspond to these of the space.
Access accessTo(mlir::Value value, const AxisMap &map);
/// Converts an access to `value` to one to its origin. Offsets are computed with `builder`; without
/// one, `isBox` says that there would be some.
Access originOf(mlir::Value value, const AxisMap &map, mlir::OpBuilder *builder = nullptr);
Access originOf(Access access, mlir::OpBuilder *builder);

/// Whether lengths are equal, by name or number.
bool sameLength(const Extent &a, const Extent &b);

} // namespace ptl::ir
