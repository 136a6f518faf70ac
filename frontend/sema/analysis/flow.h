// Data flow through a checked declaration: outputs are definitely assigned on every path, nothing
// is read before it is initialised, and the iterations of a `parallel` access disjoint elements.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Analyses the body of `ctx.decl`, which has no errors so far. `entry` holds the facts at the
/// beginning of the body: dimensions and `where`. It only reports; `ctx.facts` is restored.
void analyseFlow(Context &ctx, const FactSet &entry);

} // namespace ptl
