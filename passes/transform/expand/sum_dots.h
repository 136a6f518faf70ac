// Products of vectors by vectors.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Turns products of one row by one column, single ones and batches, into sums of elementwise products. The
/// cube would fill one position of its boxes; sums go to all vector cores, in pieces where they are long.
/// Products of which a schedule says something stay.
void sumDots(mlir::func::FuncOp function);

} // namespace ptl::ir
