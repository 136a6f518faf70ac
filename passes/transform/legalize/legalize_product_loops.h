// Products as loops.
#pragma once

#include "passes/transform/legalize/legalize.h"

namespace ptl::ir::legalize {

/// A product with a batch axis as a loop over its matrices; null if it has none.
mlir::Value batchOfProducts(const Tiles &t, MatmulOp product);
/// A product of matrices as a sum of outer products of columns and rows, for element types that the
/// cube core cannot multiply.
mlir::Value productByColumns(const Tiles &t, MatmulOp product);

} // namespace ptl::ir::legalize
