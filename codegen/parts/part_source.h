// What a part computes between movements, and as a program of its own: what compilers of one chip take.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <functional>
#include <string>
#include <vector>

namespace ptl::parts {

/// Values that are computed as soon as the same movements have ended, and that the same later
/// movements wait for: nothing is gained by computing some of them earlier.
struct Stretch {
  std::vector<ValueId> values;  ///< in order
  std::vector<ValueId> inputs;  ///< what they use from outside, constants left out
  std::vector<ValueId> outputs; ///< of `values`: what is used outside, or is a result
};

/// All stretches of a program, by their first value. What a part has for free (arguments, slices of what
/// it has, numbers) is in none.
std::vector<Stretch> stretchesOf(const PlacedProgram &placed);

using ExtentsOf = std::function<std::vector<int64_t>(ValueId)>;
using NumberOf = std::function<int64_t(Dim)>;

/// A stretch as the text of a program `part`, with the extents that one part has. Empty where it has
/// nothing to do.
std::string sourceOf(const PlacedProgram &placed, const Stretch &stretch, const ExtentsOf &extents,
                     const NumberOf &number);

} // namespace ptl::parts
