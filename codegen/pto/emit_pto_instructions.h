// Prints instructions as `.pto`, with what the versions of PTOAS want of them (ptoas_versions.def).
#pragma once

#include "codegen/pto/pto_code.h"
#include "ir/dialect/instruction_op.h"

namespace ptl::pto {

/// Prints an instruction. What the version wants and an expert's code does not give is reported.
void emitInstruction(PtoCode &code, Instruction instruction);

} // namespace ptl::pto
