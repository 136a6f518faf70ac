// Finds the op record of an operation of the IR.
#pragma once

#include "ir/ops/op_table.h"
#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// The record of a built-in; null for structural operations and those of other dialects.
const OpRecord *recordOf(mlir::Operation *op);

/// Whether each element of the result depends only on the operands' elements at that position
/// (after broadcasting): elementwise, comparison, select and conversion records.
bool isElementwise(mlir::Operation *op);

} // namespace ptl::ir
