// Movements that can go by chunks beside a product: the product of the rows that have come, while others come, or the movement of rows
// that are computed, while others are.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <optional>
#include <vector>

namespace ptl {

/// A product and a movement of which one needs what the other makes. `axis`, counted from the end, is that of the rows (or
/// columns) by which both may go, the same in what is moved and in what the product makes.
struct ChunkedPair {
  ValueId product = 0, move = 0;
  /// Of the product, the one that the movement brings; nothing if it moves what the product makes.
  std::optional<size_t> operand;
  int64_t axis = 0;
};

/// The pair whose first value, in the order of the program, may be this one: a product with an operand that was gathered, or one whose result is
/// summed over parts and used for nothing else. The answer follows from the program alone.
std::vector<ChunkedPair> chunkedPairsOf(const PlacedProgram &placed);

} // namespace ptl
