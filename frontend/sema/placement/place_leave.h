// What leaves a loop or a declaration in the walk over a program.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <vector>

namespace ptl {

/// Whether a `break` leaves the loop that has this body.
bool breaks(const Block *body);

/// The statements of a block, and those behind it.
std::vector<const Stmt *> joined(const Block *block, const std::vector<const Stmt *> &rest);

} // namespace ptl
