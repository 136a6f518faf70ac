// Integers of four bits. The IR represents them as `i8`, sign-extended, so that everything that
// supports bytes supports them.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// A conversion to `i4` from another type: it wraps or saturates as the expression says.
mlir::Value convertToFourBits(BuildContext &c, mlir::Value arg, const ConvertExpr &expr);

/// Wraps the result of a built-in with element type `i4` to four bits; `made` was computed in 8
/// bits.
Bound keptInFourBits(BuildContext &c, const OpExpr &expr, Bound made);

} // namespace ptl::ir
