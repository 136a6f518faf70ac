// The hand-written checks of built-ins that select, sort, contract, convert and create.
#pragma once

#include "frontend/sema/calls/op_call.h"

namespace ptl {

/// Runs the hand-written check of a record with `customCheck`, here or in
/// check_op_custom_shape.cpp: it sets result types and arguments. Returns the type.
const Type *checkCustomOp(Context &ctx, const OpCall &call, const OpMatch &match, OpExpr *expr);

/// Whether an operation only moves elements and does not compute, so that any element type is
/// allowed.
bool onlyMoves(const OpRecord &op);

/// Reports an operand or result of a storage-only element type in an operation that computes.
/// Returns whether there is none.
bool checkHeldOnly(Context &ctx, const OpCall &call, const OpMatch &match);

} // namespace ptl
