// Prints instructions as calls of the PTO-ISA library.
#pragma once

#include "codegen/pto/cpp_code.h"
#include "ir/dialect/instruction_op.h"

namespace ptl::pto {

/// Prints an instruction: by its form (`Cpp` in ir/ops/instructions/instruction_base.td) if it has
/// one, else as `LIBRARY(outs..., ins...)`.
void emitInstruction(CppCode &code, Instruction instruction);

} // namespace ptl::pto
