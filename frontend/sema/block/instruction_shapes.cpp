#include "frontend/sema/block/instruction_shapes.h"

namespace ptl {

#include "ir/ops/instruction_shapes.inc"

const InstructionShape &instructionShape(InstructionId id) {
  return instructionShapes[static_cast<size_t>(id)];
}

} // namespace ptl
