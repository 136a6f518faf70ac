// The phases of a check, both for a whole program and for one chunk of a file.
#pragma once

#include "frontend/sema/program_state.h"

#include <functional>
#include <span>

namespace ptl {

/// Checks the declarations that `state` has so far, phase by phase over all of them: constants,
/// aliases and structs of `modules`; signatures; conditions; bodies; schedules. When only a part of
/// a file is checked (`state.onDemand`), checks across declarations are left out: editors run them
/// per file (check_module.h).
void checkDeclarations(ProgramState &state, std::span<CheckedModule *const> modules);

/// Sorts the diagnostics of all phases by source location, and removes those that are consequences
/// of others. `lineOf` gives the line of a span.
void tidyDiagnostics(ProgramState &state, const std::function<uint32_t(Span)> &lineOf);

} // namespace ptl
