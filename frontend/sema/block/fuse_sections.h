// Merges the sections of ordinary kernels into one sequence of statements.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Merges the sections of `ctx.decl` into one sequential order without waiting: the k-th pop of a
/// pipe follows its k-th push, and loops of sections that push and pop to each other are fused. A
/// network of sections computes the same in any order (a Kahn process network), so the sequence is
/// its meaning for every executor; on chips it is split over the cores again. Reports pops and
/// pushes that cannot be matched, possible deadlocks, and variables that sections may not share.
/// Without errors the declaration is no longer at block level.
void fuseSections(Context &ctx);

} // namespace ptl
