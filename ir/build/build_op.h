// Builds built-ins. Their records say which arguments are operands and which are attributes, so
// only built-ins with special operands are named here.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

Bound buildOp(BuildContext &c, const OpExpr &expr);

} // namespace ptl::ir
