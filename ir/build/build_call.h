// Builds calls: the callee's body is inlined, with its dimensions expressed in the entry's.
#pragma once

#include "frontend/sema/calls/written_fold.h"
#include "ir/build/build_context.h"

namespace ptl::ir {

Bound buildCall(BuildContext &c, const CallExpr &expr);
/// The results of a fold with a function, where the target has code for that; none if its steps have to be built.
Bound buildFold(BuildContext &c, const WrittenFold &fold, mlir::Location loc);

} // namespace ptl::ir
