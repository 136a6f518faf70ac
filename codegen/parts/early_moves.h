// Which movements of a program can go on while the part that moves computes something else.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <map>
#include <vector>

namespace ptl::parts {

/// The values of a body in the order in which they are made; a loop or a choice is one step of it.
struct EarlyMoves {
  /// Movements that begin in front of a step, which needs them not yet: what they send is there, and something is computed before
  /// what they bring is used.
  std::map<ValueId, std::vector<ValueId>> before;
};

/// Of the values from `begin` to `end`. The answer follows from the program alone, so all ranks begin movements in one order.
EarlyMoves earlyMovesOf(const PlacedProgram &placed, ValueId begin, ValueId end);

} // namespace ptl::parts
