// What the header of a declaration says, for its text that stands alone.
#pragma once

#include "codegen/source/tile_source.h"
#include "frontend/sema/checked_tree.h"

namespace ptl {

/// Requirements, strides and defaults, into `facts`. Values of `static` dimensions and of constants of the file and of its imports are put
/// in, so the text needs neither.
void addHeaderFacts(const CallableDecl &decl, const std::map<std::string, int64_t> &statics,
                    DimContext &dims, source::EntryFacts &facts);

} // namespace ptl
