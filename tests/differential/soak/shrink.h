// Makes programs smaller that show something.
#pragma once

#include "tests/differential/soak/pool.h"

namespace ptl::differential {

/// What one observation has in common with others of the same cause: its kind, whether it is the
/// CPU's or a chip's, and the text without names and numbers.
std::string causeOf(const Observation &seen);

/// The smallest program found that shows the same (the kind on the executor; of errors also their
/// text) within so many runs.
Case shrink(Pool &pool, Case program, const Observation &shown, int budget);

} // namespace ptl::differential
