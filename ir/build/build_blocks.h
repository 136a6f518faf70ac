// Block-scaled products, and the type of scales: what they mean in terms of other operations.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// A conversion from or to a type that only holds numbers: `f8e8m0`, whose codes the IR has as unsigned bytes, or `f4e2m1`,
/// whose numbers it has as `f8E4M3FN`.
mlir::Value convertHeld(BuildContext &c, mlir::Value arg, const ConvertExpr &expr);

/// `scaled_dot(a, a_scale, b, b_scale)`: a product of numbers, or one with scales for machines that multiply blocks.
mlir::Value buildScaledDot(BuildContext &c, const OpExpr &expr);

} // namespace ptl::ir
