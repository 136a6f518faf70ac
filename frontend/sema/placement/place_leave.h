// Jumps out of a loop or a declaration, in the walk over a program.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <vector>

namespace ptl {

/// Whether a `break` in this body leaves its loop.
bool breaks(const Block *body);

/// The statements of a block, followed by `rest`.
std::vector<const Stmt *> joined(const Block *block, const std::vector<const Stmt *> &rest);

} // namespace ptl
