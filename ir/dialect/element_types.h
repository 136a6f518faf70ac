// Element types of the language as types of the IR, and back.
#pragma once

#include "frontend/base/elem_type.h"

#include "mlir/IR/Types.h"

namespace ptl::ir {

/// The IR type of a scalar of that element type: `index` for `int`, `ui8` … for unsigned integers.
mlir::Type scalarType(mlir::MLIRContext &context, ElemKind elem);

/// The element type of an IR scalar type.
ElemKind elemKindOf(mlir::Type scalar);

/// The element type of an array in global memory on chips, where a condition is stored as a byte.
mlir::Type storedType(mlir::Type scalar);

} // namespace ptl::ir
