// Builds calls: the callee's body is inlined, with its dimensions expressed in the entry's.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

Bound buildCall(BuildContext &c, const CallExpr &expr);

} // namespace ptl::ir
