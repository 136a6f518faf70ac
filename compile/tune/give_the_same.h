// Whether changed sources compute the same.
#pragma once

#include "compile/tune/edit_trials.h"

namespace ptl {

/// Runs two forms of one entry with the reference interpreter on the same small arguments and
/// compares their results. Nothing if no arguments were found with which both can be called.
std::optional<bool> giveTheSame(const TrialSource &one, const TrialSource &other,
                                const ir::EntryBinding &binding);

} // namespace ptl
