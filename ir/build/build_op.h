// Built-ins: the record says which arguments are operands and which are attributes, so no built-in
// is named here but those whose operands are made otherwise.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

Bound buildOp(BuildContext &c, const OpExpr &expr);

} // namespace ptl::ir
