// Scalars of a program on parts that are known from its sizes, for its time.
#pragma once

#include "codegen/parts/time_parts.h"

namespace ptl::parts {

/// Whether a truth value holds that is computed from sizes, scalar parameters of type `int` and the variables of the loops
/// around it. Nothing where data decide.
std::optional<bool> knownTruth(const TimeQuestion &question, const LoopNumbers &loops, ValueId id);

} // namespace ptl::parts
