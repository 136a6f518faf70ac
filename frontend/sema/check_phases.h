// The phases of a check, for a whole program and for one chunk of a file alike.
#pragma once

#include "frontend/sema/program_state.h"

#include <functional>
#include <span>

namespace ptl {

/// Checks the declarations that `state` has so far, phase by phase, each for all of them: constants,
/// aliases and structs of `modules`; signatures; conditions; bodies; schedules. When a part of a file
/// is checked (`state.onDemand`), what concerns several declarations is left out: editors find it per
/// file (check_module.h).
void checkDeclarations(ProgramState &state, std::span<CheckedModule *const> modules);

/// Brings the diagnostics of all phases into the order of the text, without those that follow from
/// others. `lineOf` gives the line of a span.
void tidyDiagnostics(ProgramState &state, const std::function<uint32_t(Span)> &lineOf);

} // namespace ptl
