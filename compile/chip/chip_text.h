// Lowered entries as C++.
#pragma once

#include "codegen/pto/emit_cpp.h"
#include "compile/chip/chip_program.h"

namespace ptl {

/// The kernels of an entry and what its host does around them, as one text. What kernels require of
/// their arguments has to be dropped before.
pto::Emitted cppText(const ChipProgram &program, const Machine &machine,
                     const pto::CppOptions &options = {});

} // namespace ptl
