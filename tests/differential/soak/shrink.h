// Makes programs smaller that show something.
#pragma once

#include "tests/differential/soak/pool.h"

namespace ptl::differential {

/// Texts with one thing less: a declaration, a statement, a parameter, an operation. The larger
/// parts first. Many of them are no programs any more.
std::vector<std::string> smallerTexts(const std::string &text);

/// What one observation has in common with others of the same cause: its kind, whether it is the
/// CPU's or a chip's, and the text without names and numbers.
std::string causeOf(const Observation &seen);

/// The smallest program found that shows the same (the kind on the executor; of errors also their
/// text) within so many runs.
Case shrink(Pool &pool, Case program, const Observation &shown, int budget);

} // namespace ptl::differential
