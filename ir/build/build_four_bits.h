// Integers of four bits: the IR has them as `i8`, with the sign in the upper half, so that all that knows bytes knows them.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// A conversion to `i4` from another type: it wraps or saturates as the expression says.
mlir::Value convertToFourBits(BuildContext &c, mlir::Value arg, const ConvertExpr &expr);

/// The result of a built-in whose element type is `i4`, where `made` was computed in 8 bits: what four bits keep of it.
Bound keptInFourBits(BuildContext &c, const OpExpr &expr, Bound made);

} // namespace ptl::ir
