// Matrix products and index notation.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes the result of a product, or adds it to the contents of `dest`. Returns false, and emits
/// nothing, if the operation is not a product.
bool produceProduct(Lowering &l, mlir::Operation *op, const View &dest, bool accumulate);
/// Whether the operation is `base + a @ b` and the product has no other use, so that the product
/// can be accumulated into the base.
bool isProductInto(mlir::Operation *op, mlir::Value &base, mlir::Operation *&product);

} // namespace ptl::cpu
