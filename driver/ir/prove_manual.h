// Runs the prover on kernels written at block level, as a part of checking a file.
#pragma once

#include "compile/entry/binding.h"
#include "driver/session.h"

namespace ptl {

/// Compiles the manual kernels of the root file for the machines that they name, and reports the
/// findings of the prover. `wanted` gives values of `static` dimensions and the like. Returns false
/// after an internal error of the compiler.
bool proveManual(Session &session, const CheckedProgram &program, const Wanted &wanted);

} // namespace ptl
