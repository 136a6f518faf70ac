// The block level: declarations of buffers, events and pipes, and sections. Ordering, hazards and
// capacity are left to the prover.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Checks `buffer`, `event`, `pipe`, `on aic { … }`.
Stmt *checkBlockLevelStmt(Context &ctx, NodeId node);

/// The kind of core that executes this place of the program; empty if neither the header nor a
/// section names one.
std::string coreHere(Context &ctx);
/// Reports an instruction if another kind of core, or none, executes this place.
void requireCore(Context &ctx, Span span, std::string_view name, std::string_view core);
/// The kind of core that owns a memory.
std::string_view coreOfPlace(Place place);

/// A number that is known at compile time, at least `least`; unknown after a report.
Dim checkStaticNumber(Context &ctx, NodeId node, std::string_view what, int64_t least);

} // namespace ptl
