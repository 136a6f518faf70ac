// The parts of a program's levels: their numbers, each part's block of a value, and the groups of
// parts that exchange data.
#pragma once

#include "frontend/sema/placement/placement.h"
#include "runtime/movement/step_list.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ptl::parts {

/// The number of parts at each level of the machine: `host=2,chip=4`.
using MachineShape = std::map<std::string, uint32_t, std::less<>>;

/// All parts, numbered in row-major order: the innermost level varies fastest. Part 5 of 2 hosts
/// with 4 chips is host 1, chip 1.
class Grid {
public:
  Grid(const std::vector<PlacedLevel> &levels, std::vector<uint32_t> counts,
       movement::Cost cost = {})
      : levels_(levels), counts_(std::move(counts)), cost_(cost) {}

  const std::vector<PlacedLevel> &levels() const { return levels_; }
  /// What moving between the parts costs; the same on all of them.
  const movement::Cost &cost() const { return cost_; }

  uint32_t count() const;
  uint32_t count(size_t level) const { return counts_[level]; }
  uint32_t coordinate(uint32_t part, size_t level) const;
  /// The part that differs in its coordinate over `level` only.
  uint32_t withCoordinate(uint32_t part, size_t level, uint32_t coordinate) const;
  /// `host 1, chip 1`
  std::string name(uint32_t part) const;

  /// The length of runs of consecutive parts in the list that differ in their innermost level only;
  /// 0 if that holds for the whole list.
  uint32_t together(const std::vector<uint32_t> &parts) const;

  /// Whether a part has a block of a value.
  bool holds(const Placement &placement, uint32_t part) const;
  /// The box of a value that a part has, in coordinates of the whole value. For a part that does
  /// not hold the value, the box that it would have.
  movement::Box boxOf(const Placement &placement, std::vector<int64_t> shape, uint32_t part) const;

private:
  uint32_t stride(size_t level) const;

  const std::vector<PlacedLevel> &levels_;
  std::vector<uint32_t> counts_;
  movement::Cost cost_;
};

/// The number of parts at each level of a program on a machine. If the levels do not fit, `why` has
/// the reason.
std::vector<uint32_t> countsOn(const std::vector<PlacedLevel> &levels, const MachineShape &shape,
                               std::string &why);

/// Gives the numbers of parts that a program mentions (`chips`) the values that they have on the grid. If another value is given
/// already, returns what is wrong.
std::string giveCounts(const CallableDecl &decl, const Grid &grid,
                       std::map<std::string, int64_t> &dims);

/// Parts that exchange data with each other, and their steps: rank `i` of the list is `parts[i]`.
/// Boxes are relative to the first element that the group has.
struct GroupMove {
  std::vector<uint32_t> parts;
  movement::StepList list;
  /// Of a shift, whose elements have other positions afterwards: per rank what it sends, in positions before the shift, and
  /// what it gets, in positions of the result. Empty: each rank sends all that it has, and gets all of its block.
  std::vector<movement::Box> taken = {}, given = {};
};

/// Chooses the steps of a request among these parts.
using StepsFor = std::function<movement::StepList(const movement::Request &,
                                                  const std::vector<uint32_t> &parts)>;

/// The groups of a movement of a value with `shape` from one placement to another. Groups that have
/// none of the value are left out. Without `stepsFor` the steps are those that take the least time
/// at the ports. `distance` is that of a shift: of its groups two may have the same parts, if the block of one is at the end
/// and at the beginning of the axis afterwards.
std::vector<GroupMove> groupsOf(const Grid &grid, const PlacedValue &move, const Placement &from,
                                const std::vector<int64_t> &shape, const StepsFor &stepsFor = {},
                                int64_t distance = 0);

} // namespace ptl::parts
