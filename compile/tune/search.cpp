#include "compile/tune/search.h"

#include <deque>
#include <map>
#include <random>
#include <set>

namespace ptl {

namespace {

/// The number of points; nullopt if it does not fit in 64 bits.
std::optional<uint64_t> countPoints(const std::vector<TuneAxis> &axes) {
  uint64_t count = 1;
  for (const TuneAxis &axis : axes)
    if (__builtin_mul_overflow(count, uint64_t(axis.values.size()), &count))
      return std::nullopt;
  return count;
}

class Search {
public:
  Search(const std::vector<TuneAxis> &axes, const TuneEvaluate &evaluate, const TuneLimits &limits)
      : axes_(axes), evaluate_(evaluate), limits_(limits), random_(limits.seed) {
    result_.points = countPoints(axes);
    isSmall_ = result_.points && *result_.points <= limits.mostPoints;
  }

  TuneResult run();

private:
  std::optional<double> timeAt(const TunePoint &point);
  bool isEnded() const {
    return result_.isCut || (!isSmall_ && result_.tries.size() >= limits_.mostTries);
  }
  bool isFaster(const TunePoint &point, const TunePoint &than);
  std::optional<TunePoint> moved(const TunePoint &point, size_t axis, int64_t steps) const;
  bool improveAlong(TunePoint &point);
  bool improveAcross(TunePoint &point);
  bool improveFar(TunePoint &point);
  void descend(TunePoint point);
  std::optional<TunePoint> shrunk(TunePoint point);
  std::optional<TunePoint> beginning();
  void outward(const std::function<bool(const TunePoint &)> &visit);
  void descendFromElsewhere();

  const std::vector<TuneAxis> &axes_;
  const TuneEvaluate &evaluate_;
  const TuneLimits &limits_;
  std::mt19937_64 random_;
  bool isSmall_ = false;
  std::map<TunePoint, size_t> known_; ///< the index of its try
  TuneResult result_;
};

/// The time of a point, which is tried if it has not been. nullopt if it has none or the search is
/// over.
std::optional<double> Search::timeAt(const TunePoint &point) {
  auto found = known_.find(point);
  if (found != known_.end())
    return result_.tries[found->second].outcome.us;
  if (isEnded())
    return std::nullopt;
  // At least one point is tried, so that there is a result.
  if (!result_.tries.empty() && limits_.isOver && limits_.isOver()) {
    result_.isCut = true;
    return std::nullopt;
  }
  size_t number = result_.tries.size();
  known_.emplace(point, number);
  result_.tries.push_back({point, evaluate_(point)});
  std::optional<double> us = result_.tries.back().outcome.us;
  if (us && (!result_.best || *us < *result_.tries[*result_.best].outcome.us))
    result_.best = number;
  return us;
}

bool Search::isFaster(const TunePoint &point, const TunePoint &than) {
  std::optional<double> us = timeAt(point), other = timeAt(than);
  // A point that cannot be compiled counts as slower than any other.
  return us && (!other || *us < *other);
}

std::optional<TunePoint> Search::moved(const TunePoint &point, size_t axis, int64_t steps) const {
  int64_t place = static_cast<int64_t>(point[axis]) + steps;
  if (place < 0 || place >= static_cast<int64_t>(axes_[axis].values.size()))
    return std::nullopt;
  TunePoint next = point;
  next[axis] = static_cast<size_t>(place);
  return next;
}

/// Moves along single axes. Steps of two get over a value that is worse than its neighbours.
bool Search::improveAlong(TunePoint &point) {
  bool improved = false;
  for (size_t axis = 0; axis < axes_.size(); ++axis)
    for (int64_t steps : {1, -1, 2, -2})
      for (auto next = moved(point, axis, steps); next && isFaster(*next, point);
           next = moved(point, axis, steps)) {
        point = *next;
        improved = true;
      }
  return improved;
}

/// Moves one axis up and another down: where a buffer is full, no axis can grow alone.
bool Search::improveAcross(TunePoint &point) {
  for (size_t up = 0; up < axes_.size(); ++up)
    for (size_t down = 0; down < axes_.size(); ++down) {
      std::optional<TunePoint> next = moved(point, up, 1);
      if (up != down && next)
        next = moved(*next, down, -1);
      if (up != down && next && isFaster(*next, point)) {
        point = *next;
        return true;
      }
    }
  return false;
}

/// Moves to the best value of a single axis, however far away it is.
bool Search::improveFar(TunePoint &point) {
  TunePoint best = point;
  for (size_t axis = 0; axis < axes_.size(); ++axis)
    for (size_t place = 0; place < axes_[axis].values.size(); ++place) {
      TunePoint next = point;
      next[axis] = place;
      if (isFaster(next, best))
        best = next;
    }
  bool improved = best != point;
  point = best;
  return improved;
}

void Search::descend(TunePoint point) {
  // The cheap moves come first; a wider one is tried only when they find nothing.
  while (!isEnded() && (improveAlong(point) || improveAcross(point) || improveFar(point))) {
  }
}

/// Visits the points in the order of their distance from the default until `visit` returns false.
void Search::outward(const std::function<bool(const TunePoint &)> &visit) {
  TunePoint start;
  for (const TuneAxis &axis : axes_)
    start.push_back(axis.start);
  std::set<TunePoint> seen = {start};
  for (std::deque<TunePoint> waiting = {start}; !waiting.empty(); waiting.pop_front()) {
    if (!visit(waiting.front()))
      return;
    for (size_t axis = 0; axis < axes_.size(); ++axis)
      for (int64_t steps : {-1, 1})
        if (auto next = moved(waiting.front(), axis, steps); next && seen.insert(*next).second)
          waiting.push_back(*next);
  }
}

/// The point, or the first one that has a time on the way to the smallest values, halving all
/// places: what is too large for a chip fits with small enough values.
std::optional<TunePoint> Search::shrunk(TunePoint point) {
  for (bool isLast = false; !isEnded();) {
    if (timeAt(point))
      return point;
    if (isLast)
      break;
    isLast = true;
    for (size_t &place : point) {
      place /= 2;
      isLast &= place == 0;
    }
  }
  return std::nullopt;
}

/// The point from which to descend: the default, or the nearest one that has a time.
std::optional<TunePoint> Search::beginning() {
  TunePoint start;
  for (const TuneAxis &axis : axes_)
    start.push_back(axis.start);
  if (std::optional<TunePoint> point = shrunk(std::move(start)))
    return point;
  std::optional<TunePoint> found;
  outward([&](const TunePoint &each) {
    if (timeAt(each))
      found = each;
    return !found && !isEnded();
  });
  return found;
}

void Search::descendFromElsewhere() {
  // A descent may end in a local minimum, so further ones begin at random points.
  for (size_t idle = 0; !isEnded() && idle < limits_.mostIdle;) {
    TunePoint point;
    for (const TuneAxis &axis : axes_)
      point.push_back(random_() % axis.values.size());
    std::optional<size_t> before = result_.best;
    if (std::optional<TunePoint> begin = shrunk(std::move(point)))
      descend(*begin);
    idle = result_.best == before ? idle + 1 : 0;
  }
}

TuneResult Search::run() {
  if (std::optional<TunePoint> point = beginning())
    descend(*point);
  // All points are tried, those near the default first in case time runs out.
  if (isSmall_)
    outward([&](const TunePoint &point) {
      timeAt(point);
      return !isEnded();
    });
  else
    descendFromElsewhere();
  result_.exhaustive = result_.points == result_.tries.size();
  return std::move(result_);
}

} // namespace

TuneResult searchTunables(const std::vector<TuneAxis> &axes, const TuneEvaluate &evaluate,
                          const TuneLimits &limits) {
  return Search(axes, evaluate, limits).run();
}

} // namespace ptl
