// The hand-written checks of built-ins that rearrange elements.
#pragma once

#include "frontend/sema/calls/op_call.h"

namespace ptl {

/// The element type of a call's result, and the shape of an operand; the shape is empty if the
/// operand is absent or has none.
Elem elemOfResult(const OpCall &call, const OpMatch &match, size_t result = 0);
Shape operandShape(const OpMatch &match, size_t index);

/// Sets result types and arguments of a call. Returns the type.
using CustomCheck = const Type *(*)(Context &, const OpCall &, const OpMatch &, OpExpr *);
/// The check of that name; null if another file has it.
CustomCheck customShapeCheck(std::string_view name);

} // namespace ptl
