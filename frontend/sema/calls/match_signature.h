// Finds the signature of a built-in that the operands match, and explains why none does.
#pragma once

#include "frontend/sema/calls/op_call.h"

namespace ptl {

OpMatch matchSignature(Context &ctx, const OpCall &call);
/// The result's element type according to the signature.
Elem resultElem(const OpCall &call, const OpMatch &match, const ElemPattern &pattern);

} // namespace ptl
