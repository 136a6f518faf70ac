// The parts of a program's levels: their numbers, what each has of a value, and which of them move
// things with each other.
#pragma once

#include "frontend/sema/placement/placement.h"
#include "runtime/movement/step_list.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ptl::parts {

/// How many parts there are of each level of the machine: `host=2,chip=4`.
using MachineShape = std::map<std::string, uint32_t, std::less<>>;

/// All parts, the innermost level counting fastest: part 5 of 2 hosts with 4 chips is host 1, chip 1.
class Grid {
public:
  Grid(const std::vector<PlacedLevel> &levels, std::vector<uint32_t> counts)
      : levels_(levels), counts_(std::move(counts)) {}

  uint32_t count() const;
  uint32_t count(size_t level) const { return counts_[level]; }
  uint32_t coordinate(uint32_t part, size_t level) const;
  /// The part whose coordinate over `level` is another, all others the same.
  uint32_t withCoordinate(uint32_t part, size_t level, uint32_t coordinate) const;
  /// `host 1, chip 1`
  std::string name(uint32_t part) const;

  /// How many of some parts, those that follow each other, differ in their innermost level only; 0 if all do.
  uint32_t together(const std::vector<uint32_t> &parts) const;

  /// Whether a part has something of a value.
  bool holds(const Placement &placement, uint32_t part) const;
  /// What a part has of a value, in coordinates of the whole; of what it does not hold, what it would.
  movement::Box boxOf(const Placement &placement, std::vector<int64_t> shape, uint32_t part) const;

private:
  uint32_t stride(size_t level) const;

  const std::vector<PlacedLevel> &levels_;
  std::vector<uint32_t> counts_;
};

/// How many parts each level of a program has on a machine; `why` says what does not fit.
std::vector<uint32_t> countsOn(const std::vector<PlacedLevel> &levels, const MachineShape &shape,
                               std::string &why);

/// The parts that move something with each other, and their steps: rank `i` of the list is
/// `parts[i]`. Boxes count from the first element that the group has.
struct GroupMove {
  std::vector<uint32_t> parts;
  movement::StepList list;
};

/// Chooses the steps of a request that these parts have.
using StepsFor = std::function<movement::StepList(const movement::Request &,
                                                  const std::vector<uint32_t> &parts)>;

/// The groups of a movement of a value with `shape`, from a placement to another. Groups that have
/// nothing are left out. Without `stepsFor` the steps are those of the least time through ports.
std::vector<GroupMove> groupsOf(const Grid &grid, const PlacedValue &move, const Placement &from,
                                const std::vector<int64_t> &shape, const StepsFor &stepsFor = {});

} // namespace ptl::parts
