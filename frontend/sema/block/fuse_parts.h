// Merges the sections of programs over parts.
#pragma once

#include "frontend/sema/block/fuse_sections.h"

namespace ptl {

/// Merges the sections of a program, as `fuseSections` does those of a kernel. Adjacent sections form one network, whose statements
/// become blocks that name their section. Also reports sections under conditions, and jumps out of
/// a section.
void fusePartSections(Context &ctx);

} // namespace ptl
