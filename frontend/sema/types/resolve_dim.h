// Dimension expressions as written, in types, shapes and `int` arguments.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Resolves a dimension expression: constants, dimensions, tunables, `int` scalars, `r.len`, `+ - *
/// / %`, `cdiv min max`. Unknown after reporting that the expression is not a dimension.
Dim resolveDim(Context &ctx, NodeId node);
/// One entry of a shape: a dimension expression or a range local.
Extent resolveExtent(Context &ctx, NodeId node);

} // namespace ptl
