// Scalars of a program on parts whose values follow from its sizes; the estimate of its time needs
// them.
#pragma once

#include "codegen/parts/time_parts.h"

namespace ptl::parts {

/// The value of a condition that is computed from sizes, scalar parameters of type `int` and the
/// variables of enclosing loops. Nothing if it depends on data.
std::optional<bool> knownTruth(const TimeQuestion &question, const LoopNumbers &loops, ValueId id);

/// The same of a number; nothing, too, if it is none.
std::optional<int64_t> knownNumber(const TimeQuestion &question, const LoopNumbers &loops,
                                   ValueId id);

/// How often a `while` goes round whose condition, and what it depends on, follows from sizes; nothing for another one, or one that goes
/// on after `most` rounds.
std::optional<int64_t> knownRounds(const TimeQuestion &question, const LoopNumbers &loops,
                                   const PlacedLoop &loop, int64_t most);

} // namespace ptl::parts
