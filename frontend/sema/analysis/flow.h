// Flow of data through a checked declaration: outputs are written everywhere on every path, nothing
// is read before it has a value, and the iterations of a `parallel` do not touch each other's
// elements.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Analyses the body of `ctx.decl`, which is free of errors so far. `entry` holds what is known
/// when the body begins: dimensions and `where`. Reports and nothing else; `ctx.facts` is as before
/// afterwards.
void analyseFlow(Context &ctx, const FactSet &entry);

} // namespace ptl
