// The name that is offered is the one that a search without shortcuts finds.
#include "frontend/sema/names/unknown_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ptl {
namespace {

/// Edit distance with transpositions of neighbours, by its definition.
size_t plainDistance(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string plainNearest(const std::string &name, const std::vector<std::string> &candidates) {
  size_t most = name.size() <= 2 ? 1 : name.size() <= 6 ? 2 : 3;
  std::pair<size_t, std::string> best{most + 1, ""};
  for (const std::string &each : candidates) {
    size_t d = plainDistance(name, each);
    if (d <= most && d < std::max(name.size(), each.size()))
      best = std::min(best, {d, each});
  }
  return best.second;
}

TEST(UnknownNames, TheNearestIsFound) {
  std::mt19937 random(7);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  auto word = [&](size_t longest) {
    std::string text;
    for (size_t i = 1 + below(longest); i > 0; --i)
      text += "abcdxyz_"[below(8)];
    return text;
  };
  size_t found = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> candidates;
    for (size_t i = below(12); i > 0; --i)
      candidates.push_back(word(round % 10 == 0 ? 90 : 9));
    std::string name = word(9);
    // Half of the names are one of the candidates with a few changes.
    if (!candidates.empty() && below(2)) {
      name = candidates[below(candidates.size())];
      for (size_t i = below(4); i > 0 && name.size() > 1; --i) {
        size_t at = below(name.size() - 1);
        switch (below(4)) {
        case 0:
          std::swap(name[at], name[at + 1]);
          break;
        case 1:
          name.erase(at, 1);
          break;
        case 2:
          name.insert(at, 1, 'q');
          break;
        default:
          name[at] = 'w';
        }
      }
    }
    if (name.size() > 64)
      continue;
    std::string nearest = nearestName(name, candidates);
    found += !nearest.empty();
    EXPECT_EQ(nearest, plainNearest(name, candidates)) << name;
  }
  EXPECT_GT(found, 500u);
  EXPECT_EQ(nearestName(std::string(65, 'a'), {std::string(65, 'a') + "b"}), "");
}

} // namespace
} // namespace ptl
