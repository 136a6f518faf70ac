#include "compile/tune/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace ptl {
namespace {

TuneAxis axis(const char *name, int64_t first, int64_t step, size_t count, size_t start) {
  TuneAxis made{name, {}, start};
  for (size_t i = 0; i < count; ++i)
    made.values.push_back(first + static_cast<int64_t>(i) * step);
  return made;
}

/// A landscape over the values at a point; infinity where it does not fit.
using Landscape = std::function<double(const std::vector<int64_t> &)>;

struct Searched {
  Searched(const std::vector<TuneAxis> &axes, const Landscape &landscape, TuneLimits limits = {}) {
    result = searchTunables(
        axes,
        [&](const TunePoint &point) {
          EXPECT_TRUE(seen.insert(point).second) << "tried twice";
          std::vector<int64_t> values;
          for (size_t i = 0; i < axes.size(); ++i)
            values.push_back(axes[i].values[point[i]]);
          double us = landscape(values);
          return std::isinf(us) ? TuneOutcome{std::nullopt, "too large"} : TuneOutcome{us, ""};
        },
        limits);
  }
  double best() const { return *result.tries[*result.best].outcome.us; }

  std::set<TunePoint> seen;
  TuneResult result;
};

/// Limits under which no space is tried whole.
TuneLimits descentOnly(uint64_t seed = 0) {
  TuneLimits limits;
  limits.mostPoints = 0;
  limits.seed = seed;
  return limits;
}

/// Three tile sizes of a product: traffic against room.
const std::vector<TuneAxis> kTiles = {axis("BM", 16, 16, 16, 7), axis("BN", 16, 16, 16, 7),
                                      axis("BK", 16, 16, 8, 3)};

double productTime(const std::vector<int64_t> &v) {
  double m = double(v[0]), n = double(v[1]), k = double(v[2]);
  if (m * n > 32768 || (m + n) * k > 32768)
    return INFINITY;
  return 1e4 / m + 2e4 / n + 3e3 / k + 0.002 * m * n / 16;
}
double bowl(const std::vector<int64_t> &v) {
  return 100 + std::pow(double(v[0]) - 200, 2) + std::pow(double(v[1]) - 48, 2) +
         std::abs(double(v[2]) - 80);
}
/// Rounds are whole: steps where a length is not a multiple.
double rounds(const std::vector<int64_t> &v) {
  auto turns = [](int64_t length, int64_t tile) {
    return std::ceil(double(length) / double(tile));
  };
  double tiles = turns(1000, v[0]) * turns(777, v[1]);
  return std::ceil(tiles / 24) * (50 + double(v[0] * v[1]) / 64 + turns(900, v[2]) * 5);
}
/// Several valleys.
double waves(const std::vector<int64_t> &v) {
  double sum = 1000;
  for (size_t i = 0; i < v.size(); ++i)
    sum += double(v[i]) / 4 + 20 * std::sin(double(v[i]) / (30.0 + 7 * double(i)));
  return sum;
}

const std::pair<const char *, Landscape> kLandscapes[] = {
    {"product", productTime}, {"bowl", bowl}, {"rounds", rounds}, {"waves", waves}};

TEST(TuneSearch, descentComesNearTheWholeSpace) {
  for (const auto &[name, landscape] : kLandscapes)
    for (uint64_t seed : {0, 1, 2}) {
      Searched whole(kTiles, landscape), part(kTiles, landscape, descentOnly(seed));
      ASSERT_TRUE(whole.result.exhaustive);
      EXPECT_EQ(whole.result.tries.size(), 16u * 16 * 8);
      EXPECT_FALSE(part.result.exhaustive) << name;
      EXPECT_LT(part.result.tries.size(), 1001u);
      EXPECT_LE(part.best(), whole.best() * 1.03) << name << " with seed " << seed;
    }
}

TEST(TuneSearch, theDefaultIsFirstAndNothingWorseIsBest) {
  for (const auto &[name, landscape] : kLandscapes)
    for (const TuneLimits &limits : {TuneLimits(), descentOnly()}) {
      Searched found(kTiles, landscape, limits);
      EXPECT_EQ(found.result.tries.front().point, (TunePoint{7, 7, 3}));
      EXPECT_LE(found.best(), *found.result.tries.front().outcome.us) << name;
    }
}

TEST(TuneSearch, theSameSeedTriesTheSame) {
  auto points = [](uint64_t seed) {
    std::vector<TunePoint> all;
    for (const TuneTry &each : Searched(kTiles, waves, descentOnly(seed)).result.tries)
      all.push_back(each.point);
    return all;
  };
  EXPECT_EQ(points(3), points(3));
  EXPECT_NE(points(3), points(4));
}

TEST(TuneSearch, aDefaultThatDoesNotFitIsTriedAndLeft) {
  std::vector<TuneAxis> axes = kTiles;
  for (TuneAxis &each : axes)
    each.start = each.values.size() - 1;
  Searched whole(axes, productTime), part(axes, productTime, descentOnly());
  EXPECT_FALSE(part.result.tries.front().outcome.us);
  EXPECT_EQ(part.result.tries.front().outcome.reason, "too large");
  EXPECT_LE(part.best(), whole.best() * 1.03);
}

TEST(TuneSearch, whatFitsOnlyWithLargeValuesIsFound) {
  Landscape large = [](const std::vector<int64_t> &v) { return v[0] < 240 ? INFINITY : 5.0; };
  for (const TuneLimits &limits : {TuneLimits(), descentOnly()}) {
    Searched found({axis("B", 16, 16, 16, 7)}, large, limits);
    ASSERT_TRUE(found.result.best);
    EXPECT_EQ(found.best(), 5.0);
  }
}

TEST(TuneSearch, whereNothingFitsThereIsNoBest) {
  Searched found(kTiles, [](const std::vector<int64_t> &) { return INFINITY; });
  EXPECT_FALSE(found.result.best);
  EXPECT_TRUE(found.result.exhaustive);
  Searched part(kTiles, [](const std::vector<int64_t> &) { return INFINITY; }, descentOnly());
  EXPECT_FALSE(part.result.best);
  EXPECT_EQ(part.result.tries.size(), 1000u);
}

TEST(TuneSearch, endsWhereItIsTold) {
  for (size_t most : {1, 2, 10}) {
    TuneLimits limits;
    size_t asked = 0;
    limits.isOver = [&] { return ++asked >= most; };
    Searched found(kTiles, productTime, limits);
    EXPECT_EQ(found.result.tries.size(), most);
    EXPECT_TRUE(found.result.isCut);
    EXPECT_FALSE(found.result.exhaustive);
    EXPECT_TRUE(found.result.best);
  }
}

TEST(TuneSearch, onePointAndManyAxes) {
  Searched one({TuneAxis{"B", {8}, 0}}, [](const std::vector<int64_t> &) { return 1.0; });
  EXPECT_EQ(one.result.tries.size(), 1u);
  EXPECT_TRUE(one.result.exhaustive);
  // More points than a number holds.
  std::vector<TuneAxis> many(20, axis("B", 1, 1, 100, 50));
  Searched found(many, [](const std::vector<int64_t> &v) {
    double sum = 1;
    for (int64_t each : v)
      sum += std::abs(double(each) - 45);
    return sum;
  });
  EXPECT_FALSE(found.result.points);
  EXPECT_FALSE(found.result.exhaustive);
  EXPECT_EQ(found.best(), 1.0);
}

TEST(TuneSearch, ofEqualTimesTheFirstIsBest) {
  Searched found(kTiles, [](const std::vector<int64_t> &) { return 7.0; });
  EXPECT_EQ(found.result.best, 0u);
}

} // namespace
} // namespace ptl
