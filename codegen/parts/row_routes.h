// Routes of rows to the parts of their experts and back: which rows each part sends to which, once
// the number of rows that each part has for each expert is known.
#pragma once

#include "codegen/parts/grid.h"

namespace ptl::parts {

/// The parts of each group of a movement over `levels`: those that differ in these levels only, in
/// the order of their rows. Groups that have none of the value are left out.
std::vector<std::vector<uint32_t>> groupsOver(const Grid &grid, const std::vector<size_t> &levels,
                                              const Placement &from);

/// The experts that a rank's rows choose, in order; a negative number chooses none.
using Choices = std::vector<int64_t>;

/// The routes within one group. A row has one place for each of its choices, ordered by expert,
/// then by the rank that has the row, then by the order of that rank's choices.
class RowRoutes {
public:
  /// `experts` has the interval of experts of each rank, `counts` the number of choices of each
  /// expert, per rank.
  RowRoutes(std::vector<movement::Interval> experts, std::vector<std::vector<int64_t>> counts);

  /// The first expert that gets more rows than `cap`, and how many it gets; `-1` if there is none.
  std::pair<int64_t, int64_t> overfull(int64_t cap) const;
  /// How many rows each rank sends to each: to the experts, or back from them.
  movement::Request request(int64_t columns, bool isBack) const;

  // The place of an empty row. Send and receive buffers have room for equally many rows for each
  // rank, `shape[2]` of the request.
  static constexpr int64_t kNoRow = -1;
  /// For each row between this rank and another, its choice, in the order of the rank's choices.
  std::vector<int64_t> choicesBetween(uint32_t rank, const Choices &choices) const;
  /// For each row between the rank with the experts and another, its place `[expert of the rank,
  /// slot]`.
  std::vector<int64_t> placesBetween(uint32_t rank, int64_t cap) const;

private:
  uint32_t ranks() const { return static_cast<uint32_t>(experts_.size()); }
  int64_t between(uint32_t from, uint32_t to) const;
  int64_t mostBetween() const;

  std::vector<movement::Interval> experts_;
  std::vector<std::vector<int64_t>> counts_;
};

} // namespace ptl::parts
