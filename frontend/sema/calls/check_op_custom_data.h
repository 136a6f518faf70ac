// The hand-written checks of built-ins that select, sort, contract, convert and create.
#pragma once

#include "frontend/sema/calls/op_call.h"

namespace ptl {

/// The hand-written rest of a record with `customCheck`, here or in check_op_custom_shape.cpp: sets
/// result types and arguments. Returns the type.
const Type *checkCustomOp(Context &ctx, const OpCall &call, const OpMatch &match, OpExpr *expr);

/// Whether an operation gives back the elements that it takes, so that their type need not be one that is computed in.
bool onlyMoves(const OpRecord &op);

/// Reports an operand or a result of a type that only holds numbers, of an operation that computes. Returns whether there is
/// none.
bool checkHeldOnly(Context &ctx, const OpCall &call, const OpMatch &match);

} // namespace ptl
