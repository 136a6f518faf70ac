// Runs the prover on kernels that are written at block level, when they are checked.
#pragma once

#include "compile/entry/binding.h"
#include "driver/session.h"

namespace ptl {

/// Compiles the manual kernels of the root file for the machines that they name, and reports what
/// the prover finds. `wanted` gives values of `static` dimensions and the like. False after an
/// error of the compiler itself.
bool proveManual(Session &session, const CheckedProgram &program, const Wanted &wanted);

} // namespace ptl
