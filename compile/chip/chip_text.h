// Writes lowered entries as C++.
#pragma once

#include "codegen/pto/emit_cpp.h"
#include "compile/chip/chip_program.h"

namespace ptl {

/// The kernels of an entry and its host code as one text. Precondition: the requirements of kernels
/// on their arguments have been removed (`dropRequirements`).
pto::Emitted cppText(const ChipProgram &program, const Machine &machine,
                     const pto::CppOptions &options = {});

} // namespace ptl
