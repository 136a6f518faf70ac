// What a part computes between movements, and as a program of its own: what compilers of one chip take.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <functional>
#include <string>
#include <vector>

namespace ptl::parts {

/// Values that are computed as soon as the same movements have ended, and that the same later
/// movements wait for: nothing is gained by computing some of them earlier. In a round of a loop what it carries counts like
/// movements: what comes from the round before, and what the next one gets. So does
/// what a choice decides.
struct Stretch {
  std::optional<ValueId> region; ///< the innermost around it
  std::vector<ValueId> own;      ///< in no other stretch
  std::vector<ValueId> values;   ///< with those that are read in place, in order
  std::vector<ValueId> inputs;   ///< what they use from outside, constants left out
  std::vector<ValueId> outputs;  ///< of `values`: what is used outside, or is a result
};

/// A round of a loop or an arm of a choice: by its first value, that of the loop or the `Arm`, and the values in it.
struct Region {
  ValueId name = 0, begin = 0, end = 0;
};

/// All of a program, outer ones first.
std::vector<Region> regionsOf(const PlacedProgram &placed);

/// Whether a value is a piece of its operand that a part has for free: the part's block, or what is at
/// positions of the first axes.
bool isPieceOf(const PlacedValue &value);

/// All stretches of a program, by their first value. What a part has for free (arguments, pieces of what
/// it has, numbers) is in none; what has elements of another value in another order or shape is in
/// each stretch that computes with it, unless something else needs it, too.
std::vector<Stretch> stretchesOf(const PlacedProgram &placed);

using ExtentsOf = std::function<std::vector<int64_t>(ValueId)>;
using NumberOf = std::function<int64_t(Dim)>;

/// A stretch as the text of a program `part`, with the extents that one part has. Empty where it has
/// nothing to do.
std::string sourceOf(const PlacedProgram &placed, const Stretch &stretch, const ExtentsOf &extents,
                     const NumberOf &number);

} // namespace ptl::parts
