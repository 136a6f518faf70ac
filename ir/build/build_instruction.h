// Builds instructions and events of manual kernels.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

void buildInstruction(BuildContext &c, const BlockExpr &call);
/// Builds a signal of an event, or a wait for it.
void buildSignal(BuildContext &c, const BlockExpr &call);

} // namespace ptl::ir
