// `ptlc check`, in the executable and, for a chip, in libptlc-ir.
#pragma once

#include "driver/session.h"

#include <functional>

namespace ptl {

/// What is looked for in a checked file beside errors of the language.
using CheckMore = std::function<void(Session &session, const CheckedProgram &program)>;

ExitCode runCheck(const Options &options, const CheckMore &more = {});

} // namespace ptl
