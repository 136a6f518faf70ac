// Operands of instructions: their kinds, the memories in which they must lie, and which extents
// must be equal.
#pragma once

#include "frontend/sema/calls/check_call.h"
#include "ir/ops/instruction_table.h"

namespace ptl {

/// Checks a call of an instruction, with its operands and attributes.
Expr *checkInstruction(Context &ctx, NodeId node, const InstructionInfo &info,
                       const std::vector<CallArgument> &args);

} // namespace ptl
