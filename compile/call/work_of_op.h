// The work of one execution of one operation, and the arrays in memory that it reads and writes.
#pragma once

#include "compile/call/work.h"
#include "compile/call/work_formula.h"

#include "llvm/ADT/SmallVector.h"

namespace ptl {

/// The value of an integer; nothing if it is unknown.
using NumberOf = llvm::function_ref<std::optional<int64_t>(mlir::Value value)>;

/// The bytes of an array with those extents.
int64_t bytesOf(mlir::Type type, llvm::ArrayRef<int64_t> extents);

/// The array in memory that a value is, or is a part of: an argument, an allocation, or a result
/// outside grids. Null for tiles that are computed at their uses, and for constants and positions.
mlir::Value memoryOf(mlir::Value value);

/// The arrays in memory that are operands or results of an operation.
llvm::SmallVector<mlir::Value> memoriesOf(mlir::Operation &op);

/// One execution of an operation at tile level. Within grids, boxes of arrays count as read by the
/// operation that cuts them out; elsewhere by the operation that computes with them. Returns
/// nothing if a length is unknown.
std::optional<OpWork> workOfOp(mlir::Operation &op, const ExtentsOf &extentsOf, NumberOf numberOf);

} // namespace ptl
