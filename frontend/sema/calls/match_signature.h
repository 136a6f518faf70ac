// Finds the signature of a built-in that its operands fit, and says best why none does.
#pragma once

#include "frontend/sema/calls/op_call.h"

namespace ptl {

OpMatch matchSignature(Context &ctx, const OpCall &call);
/// The result's element type as the signature says it.
Elem resultElem(const OpCall &call, const OpMatch &match, const ElemPattern &pattern);

} // namespace ptl
