// Matrix products and index notation.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Writes what a product gives, or adds it to what is there. False: the operation is none.
bool produceProduct(Lowering &l, mlir::Operation *op, const View &dest, bool accumulate);
/// Whether the operation is `base + a @ b` where nothing else wants the product, so that it is
/// accumulated on top of the base.
bool isProductInto(mlir::Operation *op, mlir::Value &base, mlir::Operation *&product);

} // namespace ptl::cpu
