// Requirements on the operands of instructions, for the checker of manual kernels.
#pragma once

#include "frontend/sema/types.h"
#include "ir/ops/instruction_table.h"

#include <span>

namespace ptl {

struct OperandShape {
  /// the memory in which it must lie; `Inferred`: determined by the pipe or the moves
  Place place = Place::Inferred;
  /// A letter names an extent, `1` is that extent, `=` all rows or columns of the tile, `*` anything.
  char rows = '*', cols = '*';
  bool isScalar = false;
  bool counts = true; ///< its element type is one of those that machines list
};
struct InstructionShape {
  std::span<const OperandShape> outs, ins; ///< optional ones, too
};

const InstructionShape &instructionShape(InstructionId id);

} // namespace ptl
