// Prints instructions as calls of the PTO-ISA library.
#pragma once

#include "codegen/pto/cpp_code.h"
#include "ir/dialect/instruction_op.h"

namespace ptl::pto {

/// Prints an instruction: in its own form (`Cpp` in ir/ops/instructions/instruction_base.td) if it
/// has one, otherwise as `LIBRARY(outs..., ins...)`.
void emitInstruction(CppCode &code, Instruction instruction);

} // namespace ptl::pto
