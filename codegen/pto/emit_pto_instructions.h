// Prints instructions as `.pto`, with the operands that each version of PTOAS requires
// (ptoas_versions.def).
#pragma once

#include "codegen/pto/pto_code.h"
#include "ir/dialect/instruction_op.h"

namespace ptl::pto {

/// Prints an instruction. If an expert's code lacks an operand that the version requires, that is
/// reported as an error.
void emitInstruction(PtoCode &code, Instruction instruction);

} // namespace ptl::pto
