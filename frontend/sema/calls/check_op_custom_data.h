// The hand-written checks of built-ins that select, sort, contract, convert and create.
#pragma once

#include "frontend/sema/calls/op_call.h"

namespace ptl {

/// The hand-written rest of a record with `customCheck`, here or in check_op_custom_shape.cpp: sets
/// result types and arguments. Returns the type.
const Type *checkCustomOp(Context &ctx, const OpCall &call, const OpMatch &match, OpExpr *expr);

} // namespace ptl
