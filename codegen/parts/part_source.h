// The computations of one part between movements, each as a program of its own that compilers for
// one chip accept.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <functional>
#include <string>
#include <vector>

namespace ptl::parts {

/// Values that can be computed as soon as the same movements have ended, and that the same later
/// movements wait for, so that computing some of them earlier would gain nothing. Within a round of
/// a loop, carried values count as movements: those that come from the round before, and those that
/// the next round gets. So does the condition of a choice.
struct Stretch {
  std::optional<ValueId> region; ///< the innermost region around it
  std::vector<ValueId> own;      ///< values that belong to no other stretch
  std::vector<ValueId> values;   ///< `own`, and values that are recomputed in place, in order
  std::vector<ValueId> inputs;   ///< values from outside that they use, except constants
  std::vector<ValueId> outputs;  ///< those of `values` that are used outside or are results
};

/// A round of a loop or an arm of a choice, identified by its first value (that of the loop, or the
/// `Arm`), with the values in it.
struct Region {
  ValueId name = 0, begin = 0, end = 0;
};

/// All regions of a program, outer ones before inner ones.
std::vector<Region> regionsOf(const PlacedProgram &placed);

/// Whether a value is a piece of its operand that costs a part nothing: the part's block, or a
/// slice at positions of the first axes.
bool isPieceOf(const PlacedValue &value);

/// Marks the values that take memory. An operation whose value nothing uses takes none, such as a
/// whole `zeros` where each part makes its own block.
std::vector<bool> usedValues(const PlacedProgram &placed);

/// What stretches are for.
struct StretchRules {
  /// Their values are computed by them, not only timed.
  bool areExecuted = false;
  std::vector<bool> left = {};     ///< by value: in none; empty: no such value
  std::vector<ValueId> alone = {}; ///< values that have a stretch of their own
};

/// All stretches of a program, keyed by their first value. Values that cost a part nothing
/// (arguments, pieces, numbers) are in none. A value that only rearranges another one's elements is
/// repeated in each stretch that reads it, unless something else needs it too.
std::vector<Stretch> stretchesOf(const PlacedProgram &placed, const StretchRules &rules = {});

using ExtentsOf = std::function<std::vector<int64_t>(ValueId)>;
using NumberOf = std::function<int64_t(Dim)>;

/// A stretch as the text of a program, with the extents of one part: the last one of the text, behind the program's own file if
/// the stretch calls what is declared there. Empty if that part has nothing to compute.
std::string sourceOf(const PlacedProgram &placed, const Stretch &stretch, const ExtentsOf &extents,
                     const NumberOf &number);

} // namespace ptl::parts
