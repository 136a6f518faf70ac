// Loops over values that are taken apart to positions on several axes: `y[t / N, t % N]`. The
// region keeps the value as its slot until the loops around have covered a whole stretch of values
// from 0; then the axes are covered each by itself. Only for use inside `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/loop_domain.h"

namespace ptl {

/// The region by the value whose quotients its axes follow, where all that has another value in
/// another iteration of the loop is in that value. Nothing if there is no such value.
std::optional<Region> withSlot(const Joiner &loop, const Region &region);

/// What all iterations access together of a region that has a slot; without the slot once it has been
/// all values from 0 up to some number.
std::optional<Region> joinSlots(const Joiner &loop, const Region &region, Unjoined *why);

} // namespace ptl
