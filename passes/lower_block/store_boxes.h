// Stores boxes of arrays.
#pragma once

#include "passes/lower_block/lower_boxes.h"

namespace ptl::block {

/// The elements of a column, each in a row of its own.
Value apart(KernelContext &c, Value column, int64_t rows, Value count, Type element);
/// Stores to a box that is not a matrix.
void storeBox(KernelContext &c, ir::StoreOp store, const BoxOperands &in,
              llvm::ArrayRef<mlir::NamedAttribute> attributes);

} // namespace ptl::block
