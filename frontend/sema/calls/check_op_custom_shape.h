// The hand-written checks of built-ins that rearrange elements.
#pragma once

#include "frontend/sema/calls/op_call.h"

namespace ptl {

/// Sets result types and arguments of a call. Returns the type.
using CustomCheck = const Type *(*)(Context &, const OpCall &, const OpMatch &, OpExpr *);
/// The check of that name; null: another file has it.
CustomCheck customShapeCheck(std::string_view name);

} // namespace ptl
