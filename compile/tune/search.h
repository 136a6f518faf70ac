// Searches a discrete space for the point with the least time. It knows nothing of programs: a
// function evaluates points, so that tests can search artificial landscapes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// A point of the space: for each axis the index of a value.
using TunePoint = std::vector<size_t>;

/// One parameter.
struct TuneAxis {
  std::string name;
  std::vector<int64_t> values; ///< in ascending order, at least one
  size_t start = 0;            ///< the index of the default
};

/// What a point takes, or why it cannot be compiled.
struct TuneOutcome {
  std::optional<double> us;
  std::string reason = {};                    ///< why there is no time
  std::map<std::string, int64_t> memory = {}; ///< bytes used of each memory, if known
};

struct TuneTry {
  TunePoint point;
  TuneOutcome outcome;
};

struct TuneLimits {
  uint64_t seed = 0;        ///< of the points at which descents restart
  size_t mostPoints = 4096; ///< spaces of at most so many points are searched exhaustively
  size_t mostTries = 1000;  ///< of a larger space
  size_t mostIdle = 16;     ///< descents in a row without improvement after which the search ends
  /// Asked before every try but the first; true ends the search. Null: never.
  std::function<bool()> isOver;
};

struct TuneResult {
  std::vector<TuneTry> tries;     ///< in the order tried; the first is the default
  std::optional<size_t> best;     ///< of `tries`, the first of those with the least time
  std::optional<uint64_t> points; ///< size of the space; nothing if it overflows
  bool exhaustive = false;        ///< every point was tried
  bool isCut = false;             ///< `isOver` ended it
};

using TuneEvaluate = std::function<TuneOutcome(const TunePoint &)>;

/// Tries the default first, then descends from it: along one axis at a time, then along two in
/// opposite directions, then to the best value of one axis at any distance, as long as the time
/// decreases. A small space is then searched exhaustively, outward from the default; in a larger
/// one descents restart at random points. No point is tried twice. The search is deterministic: it
/// depends only on the axes, the outcomes and the seed, up to the point where `isOver` ends it.
///
/// An invalid default is tried first all the same; the descent then begins at the first valid
/// point, smaller values first.
TuneResult searchTunables(const std::vector<TuneAxis> &axes, const TuneEvaluate &evaluate,
                          const TuneLimits &limits);

} // namespace ptl
