#include "ir/ops/instruction_attributes.h"

namespace ptl {

#include "ir/ops/instruction_attributes.inc"

std::span<const InstructionAttribute> instructionAttributes() { return attributeTable; }

} // namespace ptl
