// Sections of ordinary kernels as one sequence of statements.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Puts what the sections of `ctx.decl` do into one order in which nothing waits: the k-th pop of a
/// pipe follows its k-th push, loops of sections that push and pop to each other become one. A
/// network of sections computes the same in any order, so this is its meaning, for every executor;
/// chips split it over their cores again. Reports what cannot be matched, what can deadlock and
/// what sections may not share. Without errors the declaration is not at block level any more.
void fuseSections(Context &ctx);

/// The same for the sections of a program. Those that stand behind each other are one network, whose statements become
/// blocks that name their section. Reports, too, what stands under conditions or leaves a section.
void fusePartSections(Context &ctx);

} // namespace ptl
