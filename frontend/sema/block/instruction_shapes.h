// What the operands of instructions must be, for the checker of manual kernels.
#pragma once

#include "frontend/sema/types.h"
#include "ir/ops/instruction_table.h"

#include <span>

namespace ptl {

struct OperandShape {
  Place place = Place::Inferred; ///< where it must lie; `Inferred`: the pipe or the moves say
  char rows = '*', cols = '*';   ///< a letter that stands for an extent, `1`, or `*`: anything
  bool isScalar = false;
  bool counts = true; ///< its element type is one of those that machines list
};
struct InstructionShape {
  std::span<const OperandShape> outs, ins; ///< optional ones, too
};

const InstructionShape &instructionShape(InstructionId id);

} // namespace ptl
