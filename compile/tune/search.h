// Searches a space of small lists of values for the point that takes least time. It knows nothing of
// programs: what a point takes is asked of a function, so that tests can search made-up landscapes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// A point of the space: for each axis the number of a value.
using TunePoint = std::vector<size_t>;

/// One parameter.
struct TuneAxis {
  std::string name;
  std::vector<int64_t> values; ///< in ascending order, at least one
  size_t start = 0;            ///< the number of the default
};

/// What a point takes, or why it cannot be compiled.
struct TuneOutcome {
  std::optional<double> us;
  std::string reason = {};                    ///< where there is no time
  std::map<std::string, int64_t> memory = {}; ///< bytes that it uses of each memory, if known
};

struct TuneTry {
  TunePoint point;
  TuneOutcome outcome;
};

struct TuneLimits {
  uint64_t seed = 0;        ///< of the points at which descents begin again
  size_t mostPoints = 4096; ///< spaces of at most so many points are tried whole
  size_t mostTries = 1000;  ///< of a larger space
  size_t mostIdle = 16;     ///< descents in a row that found nothing better, after which it ends
  /// Asked before every try but the first; true ends the search. Null: never.
  std::function<bool()> isOver;
};

struct TuneResult {
  std::vector<TuneTry> tries;     ///< in the order tried; the first is the default
  std::optional<size_t> best;     ///< of `tries`, the first of those with the least time
  std::optional<uint64_t> points; ///< of the space; nothing if they are more than fit a number
  bool exhaustive = false;        ///< every point was tried
  bool isCut = false;             ///< `isOver` ended it
};

using TuneEvaluate = std::function<TuneOutcome(const TunePoint &)>;

/// Tries the default first, then descends from it: along one axis at a time, then along two in
/// opposite directions, then to the best value of one axis however far away, as long as that is
/// faster. A small space is then tried whole, outward from
/// the default; in a larger one descents begin at random points. No point is tried twice. The tries
/// depend on the axes, the outcomes and the seed alone, up to the place where `isOver` ends them.
///
/// A default that cannot be had is the first try all the same; the descent then begins at the first
/// point that can be had, smaller values being tried first.
TuneResult searchTunables(const std::vector<TuneAxis> &axes, const TuneEvaluate &evaluate,
                          const TuneLimits &limits);

} // namespace ptl
