// What one execution of one operation computes, and which arrays in memory it reads and writes.
#pragma once

#include "compile/call/work.h"
#include "compile/call/work_formula.h"

#include "llvm/ADT/SmallVector.h"

namespace ptl {

/// The number that a value is; nothing when it is unknown.
using NumberOf = llvm::function_ref<std::optional<int64_t>(mlir::Value value)>;

/// The bytes of an array with those extents.
int64_t bytesOf(mlir::Type type, llvm::ArrayRef<int64_t> extents);

/// The array in memory that a value is, or is a part of: an argument, an allocation, what is
/// computed outside of grids. Null for tiles that are computed where they are used, and for
/// constants and positions.
mlir::Value memoryOf(mlir::Value value);

/// The arrays in memory that an operation names.
llvm::SmallVector<mlir::Value> memoriesOf(mlir::Operation &op);

/// One execution of an operation at tile level. Boxes of arrays are read where they are cut out in
/// grids, and elsewhere by what computes with them. Returns nothing when a length is unknown.
std::optional<OpWork> workOfOp(mlir::Operation &op, const ExtentsOf &extentsOf, NumberOf numberOf);

} // namespace ptl
