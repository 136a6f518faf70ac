// Builds block-scaled products and conversions of their scales from other operations.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// A conversion from or to a storage-only type: `f8e8m0`, whose codes are unsigned bytes in the IR,
/// or `f4e2m1`, whose values are `f8E4M3FN` in the IR.
mlir::Value convertHeld(BuildContext &c, mlir::Value arg, const ConvertExpr &expr);

/// `scaled_dot(a, a_scale, b, b_scale)`: a product of converted values, or a block-scaled product
/// for machines that have one.
mlir::Value buildScaledDot(BuildContext &c, const OpExpr &expr);

} // namespace ptl::ir
