// `ptlc check`: in the executable and, for chips, in ptlc-ir.
#pragma once

#include "driver/session.h"

#include <functional>

namespace ptl {

/// Further checks of a checked file, in addition to those of the language.
using CheckMore = std::function<void(Session &session, const CheckedProgram &program)>;

/// `forManual` checks files with manual kernels by the prover; if it is empty, the prover is not
/// run.
ExitCode runCheck(const Options &options, const CheckMore &more = {},
                  const std::function<ExitCode()> &forManual = {});

} // namespace ptl
