// Rows that go to the parts of their experts, and back: which rows a part gives to which, once it is known how
// many of them each part has for each expert.
#pragma once

#include "codegen/parts/grid.h"

namespace ptl::parts {

/// The parts of each group of a movement over `levels`: those that differ in these levels only, in the order of
/// their rows. Groups without anything of the value are left out.
std::vector<std::vector<uint32_t>> groupsOver(const Grid &grid, const std::vector<size_t> &levels,
                                              const Placement &from);

/// What a rank's choices name, in their order; a choice below 0 names nothing.
using Choices = std::vector<int64_t>;

/// Of one group. A row has a place for each of its choices: first by expert, then by the rank that the row lies on,
/// then in the order of the rank's choices.
class RowRoutes {
public:
  /// `experts`: per rank, the experts that it has. `counts`: per rank and expert, how many choices name it.
  RowRoutes(std::vector<movement::Interval> experts, std::vector<std::vector<int64_t>> counts);

  /// The first expert that gets more rows than `cap`, and how many; `-1` where none does.
  std::pair<int64_t, int64_t> overfull(int64_t cap) const;
  /// Who gives whom how many rows: to the experts, or back from them.
  movement::Request request(int64_t columns, bool isBack) const;

  // Places of rows, `kNoRow` where there is none. In what is sent and in what comes, a rank has room for as many rows
  // of each rank, `shape[2]` of the request.
  static constexpr int64_t kNoRow = -1;
  /// The choice, in the order of the rank's choices, of each row between the rank and another.
  std::vector<int64_t> choicesBetween(uint32_t rank, const Choices &choices) const;
  /// The place, `[expert of the rank, slot]`, of each row between the rank that has the experts and another.
  std::vector<int64_t> placesBetween(uint32_t rank, int64_t cap) const;

private:
  uint32_t ranks() const { return static_cast<uint32_t>(experts_.size()); }
  int64_t between(uint32_t from, uint32_t to) const;
  int64_t mostBetween() const;

  std::vector<movement::Interval> experts_;
  std::vector<std::vector<int64_t>> counts_;
};

} // namespace ptl::parts
