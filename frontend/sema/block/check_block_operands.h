// Operands of instructions: what each must be, where it must lie, and which extents are equal.
#pragma once

#include "frontend/sema/calls/check_call.h"
#include "ir/ops/instruction_table.h"

namespace ptl {

/// A call of an instruction, with its operands and attributes.
Expr *checkInstruction(Context &ctx, NodeId node, const InstructionInfo &info,
                       const std::vector<CallArgument> &args);

} // namespace ptl
