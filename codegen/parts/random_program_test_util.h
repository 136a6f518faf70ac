// Random programs over two levels, grown statement by statement, for tests. A statement that the
// checker refuses is dropped; for one that it accepts, the placement of its value is recorded.
#pragma once

#include "codegen/parts/parts_test_util.h"
#include "frontend/sema/placement/placement_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace ptl::parts {

/// A value of a random program. Exact values are multiples of a power of two, so that sums in any
/// order are equal; values that are not, such as a square root, are never summed.
struct RandomValue {
  std::string name;
  std::vector<std::string> shape = {};
  double bound = 0; ///< of the absolute value, in units
  int unitBits = 0; ///< the unit is 2 to the power of minus that
  bool isExact = true;
  ElemKind elem = ElemKind::F32;
  Placement placement = {};
};

class RandomProgram {
public:
  /// `selects`: some statements select elements or put them beside each other. `ofParts`: some go through the ranges of parts, or count them.
  explicit RandomProgram(uint64_t seed, bool selects = true, bool ofParts = true);

  void grow(size_t statements);

  /// Whether the program is accepted with its last value as result, as it is placed or gathered. If
  /// so, it is in `text`.
  bool finish();

  std::string text;
  size_t refused = 0;
  bool isExact = true; ///< nothing in `text` is rounded
  /// Per argument before `sizes`, its shape; a scalar has none.
  std::vector<std::vector<std::string>> shapes;
  bool speaksOfPart1 = false; ///< of a level, which shapes with one part lack

  /// Programs that differ from `text` in one movement or one placement. Each is either refused or
  /// computes the same.
  std::vector<std::string> altered() const;
  /// Programs that must be refused, judging by the placements of their values.
  std::vector<std::string> wrong();

private:
  template <typename T> const T &pick(const std::vector<T> &from) {
    return from[random_() % from.size()];
  }
  bool chance(uint32_t of) { return random_() % of == 0; }
  std::string level() { return chance(2) ? "host" : "chip"; }
  std::string drawnAxis(const std::vector<std::string> &shape);
  std::string drawnPlace(const std::vector<std::string> &shape);
  void addArgument();

  /// The text of an expression, with what is known about its numbers; an empty text if there is no
  /// expression of that kind.
  struct Drawn {
    std::string text;
    double bound = 0;
    int unitBits = 0;
    bool isExact = true;
    std::string before = {}; ///< statements in front of it
  };
  Drawn statement();
  Drawn elementwise(const RandomValue &a, const RandomValue &b);
  Drawn unary(const RandomValue &a);
  Drawn reduction(const RandomValue &a);
  Drawn shaped(const RandomValue &a);
  Drawn selected(const RandomValue &a);
  Drawn movement(const RandomValue &a);
  Drawn rows(const RandomValue &a);
  Drawn choice(const RandomValue &a, const RandomValue &b);
  Drawn pages(const RandomValue &a, const RandomValue &b);
  Drawn leaving(const RandomValue &a, const RandomValue &b);
  Drawn tasks(const RandomValue &a, const RandomValue &b);
  Drawn ownRanges(const RandomValue &a, const RandomValue &b);

  std::string program(const std::string &place, const std::string &value) const;
  bool isAccepted(const std::string &place, const std::string &value) {
    text = program(place, value);
    return CheckedText(text).ok();
  }
  /// Checks the program with one more `let`. Returns the placement and shape of its value; nothing
  /// if the program is refused.
  std::optional<RandomValue> tried(const std::string &name, const Drawn &drawn);
  std::string typeText(const RandomValue &value, bool isPlaced) const;
  std::string gathered(const RandomValue &value, size_t leaveOut) const;

  std::mt19937_64 random_;
  bool selects_, ofParts_;
  std::string header_;
  std::vector<RandomValue> values_;
  std::vector<std::string> lets_;
};

/// Positions of the longest axis, for bounds of sums.
inline constexpr double kLongest = 8;

/// At most so many positions has an axis.
inline double positionsOf(const std::string &extent) {
  return extent == "1" ? 1
                       : std::pow(kLongest, 1 + std::ranges::count(extent, '*') +
                                                std::ranges::count(extent, '+'));
}

/// The same program, with the two levels as axes of a mesh of chips.
std::string asMesh(std::string text, uint32_t columns);

} // namespace ptl::parts
