// `ptlc check`, in the executable and, for a chip, in libptlc-ir.
#pragma once

#include "driver/session.h"

#include <functional>

namespace ptl {

/// More checks of a checked file, beside those of the language.
using CheckMore = std::function<void(Session &session, const CheckedProgram &program)>;

/// `forManual` checks files with manual kernels, which the prover judges; if it is empty, they are
/// not judged.
ExitCode runCheck(const Options &options, const CheckMore &more = {},
                  const std::function<ExitCode()> &forManual = {});

} // namespace ptl
