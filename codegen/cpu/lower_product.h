// Matrix products and index notation.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the result of a product, or adds it to what is there. False if the operation is no
/// product.
bool produceProduct(Lowering &l, mlir::Operation *op, const View &dest, bool accumulate);
/// Whether the operation is `base + a @ b` and the product has no other use, so that it can be
/// accumulated on top of the base.
bool isProductInto(mlir::Operation *op, mlir::Value &base, mlir::Operation *&product);

} // namespace ptl::cpu
