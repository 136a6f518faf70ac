#include "codegen/parts/grid.h"
#include "runtime/movement/predict.h"

#include <algorithm>

namespace ptl::parts {

using movement::Box;
using movement::Interval;

// ---- Parts -------------------------------------------------------------------------------------

uint32_t Grid::stride(size_t level) const {
  uint32_t stride = 1;
  for (size_t inside = level + 1; inside < counts_.size(); ++inside)
    stride *= counts_[inside];
  return stride;
}

uint32_t Grid::count() const { return counts_.empty() ? 1 : stride(0) * counts_[0]; }

uint32_t Grid::coordinate(uint32_t part, size_t level) const {
  return part / stride(level) % counts_[level];
}

uint32_t Grid::withCoordinate(uint32_t part, size_t level, uint32_t coordinate) const {
  return part + (coordinate - this->coordinate(part, level)) * stride(level);
}

std::string Grid::name(uint32_t part) const {
  std::string name;
  for (size_t level = 0; level < counts_.size(); ++level)
    name +=
        (level ? ", " : "") + levels_[level].name + " " + std::to_string(coordinate(part, level));
  return name;
}

uint32_t Grid::together(const std::vector<uint32_t> &parts) const {
  auto levelBetween = [&](size_t i) {
    size_t level = 0;
    while (level < counts_.size() && coordinate(parts[i], level) == coordinate(parts[i + 1], level))
      ++level;
    return level;
  };
  size_t innermost = 0;
  for (size_t i = 0; i + 1 < parts.size(); ++i)
    innermost = std::max(innermost, levelBetween(i));
  for (size_t i = 0; i + 1 < parts.size(); ++i)
    if (levelBetween(i) < innermost)
      return static_cast<uint32_t>(i + 1);
  return 0;
}

bool Grid::holds(const Placement &placement, uint32_t part) const {
  for (size_t level = 0; level < counts_.size(); ++level)
    if (placement[level].isSingle() && !placement[level].isOwn &&
        placement[level].part != coordinate(part, level))
      return false;
  return true;
}

Box Grid::boxOf(const Placement &placement, std::vector<int64_t> shape, uint32_t part) const {
  Box box = movement::wholeBox(shape);
  for (size_t level = 0; level < counts_.size(); ++level) {
    const LevelPlacement &at = placement[level];
    if (!at.isCut())
      continue;
    Interval &axis = box[box.size() - static_cast<size_t>(-at.axis)];
    int64_t unit = std::max<int64_t>(at.unitLength, 1);
    Interval block =
        movement::blockOf(axis.length() / unit, counts_[level], coordinate(part, level));
    axis = {axis.begin + block.begin * unit, axis.begin + block.end * unit};
  }
  // Levels cut an axis one after the other: each cuts the block that the levels before it left.
  return box;
}

// ---- Machines ----------------------------------------------------------------------------------

/// Fills in how many parts the axes of one machine level have; at most one of them may be open.
static std::string fillCounts(const std::vector<PlacedLevel> &levels, const std::string &machine,
                              uint32_t total, std::vector<uint32_t> &counts) {
  // Several axes of a mesh may lie over one level of the machine: the product of their counts is
  // the count of that level, and at most one of them may be open.
  uint64_t fixed = 1;
  bool isOpen = false;
  for (const PlacedLevel &level : levels)
    if (level.machineLevel == machine) {
      fixed *= level.count.value_or(1);
      isOpen |= !level.count;
    }
  if (total % fixed != 0 || (!isOpen && total != fixed))
    return "a mesh of " + std::to_string(fixed) + (isOpen ? " times something" : "") + " is not " +
           std::to_string(total) + " " + machine + "s";
  for (size_t i = 0; i < levels.size(); ++i)
    if (levels[i].machineLevel == machine)
      counts[i] = levels[i].count.value_or(static_cast<uint32_t>(total / fixed));
  return {};
}

std::vector<uint32_t> countsOn(const std::vector<PlacedLevel> &levels, const MachineShape &shape,
                               std::string &why) {
  std::vector<uint32_t> counts(levels.size(), 1);
  for (const PlacedLevel &level : levels) {
    auto found = shape.find(level.machineLevel);
    if (found == shape.end())
      why = "the arrays lie over `" + level.name + "`, and `--shape` does not give the number of " +
            level.machineLevel + "s";
    else if (why.empty())
      why = fillCounts(levels, level.machineLevel, found->second, counts);
  }
  for (const auto &[name, count] : shape)
    if (std::ranges::find(levels, name, &PlacedLevel::machineLevel) == levels.end()) {
      std::string all;
      for (const PlacedLevel &level : levels)
        all += (all.empty() ? "`" : ", `") + level.name + "`";
      why = "the arrays lie over " + all + ", not over `" + name + "`";
    }
  return counts;
}

std::string giveCounts(const CallableDecl &decl, const Grid &grid,
                       std::map<std::string, int64_t> &dims) {
  for (const DimParam &dim : decl.dims) {
    auto level = std::ranges::find(grid.levels(), dim.level, &PlacedLevel::name);
    if (!dim.isCount() || level == grid.levels().end())
      continue;
    int64_t count = grid.count(static_cast<size_t>(level - grid.levels().begin()));
    auto [given, isNew] = dims.emplace(dim.name, count);
    if (!isNew && given->second != count)
      return "`" + dim.name + "` is " + std::to_string(given->second) + ", but the run has " +
             std::to_string(count) + " parts of `" + dim.level + "`";
  }
  return {};
}

// ---- Groups ------------------------------------------------------------------------------------

namespace {

movement::Kind kindOf(MovementId id) {
  switch (id) {
  case MovementId::AllReduce:
    return movement::Kind::AllReduce;
  case MovementId::ReduceScatter:
    return movement::Kind::ReduceScatter;
  case MovementId::AllGather:
    return movement::Kind::AllGather;
  case MovementId::AllToAll:
    return movement::Kind::AllToAll;
  case MovementId::Broadcast:
    return movement::Kind::Broadcast;
  case MovementId::Shift:
  case MovementId::Send:
  case MovementId::Reshard:
    return movement::Kind::Boxes;
  case MovementId::Dispatch:
  case MovementId::Combine:
    return movement::Kind::Rows;
  }
  __builtin_unreachable();
}

/// Makes the groups of parts of one movement.
class GroupMaker {
public:
  GroupMaker(const Grid &grid, const PlacedValue &move, const Placement &from,
             std::vector<int64_t> shape, const StepsFor &stepsFor, int64_t distance)
      : grid_(grid), move_(move), from_(from), shape_(std::move(shape)), stepsFor_(stepsFor),
        distance_(distance) {
    // A box without axes always has one element, so it could not say that a part holds nothing.
    if (shape_.empty())
      shape_ = {1};
  }

  std::vector<GroupMove> run() {
    std::vector<GroupMove> groups;
    // A reshard may move data between any parts, so all of them are one group.
    if (move_.movement->takes == MovementTakes::Axes) {
      std::vector<uint32_t> all;
      for (uint32_t part = 0; part < grid_.count(); ++part)
        all.push_back(part);
      groups.push_back(boxes(all));
      return groups;
    }
    if (move_.movement->takes == MovementTakes::Distance) {
      for (uint32_t part = 0; part < grid_.count(); ++part)
        if (isFirst(part) && grid_.holds(from_, part))
          addShift(partsLike(part), groups);
      return groups;
    }
    for (uint32_t part = 0; part < grid_.count(); ++part)
      // One group for each part that has coordinate 0 at the level of the movement.
      if (grid_.coordinate(part, move_.level) == 0 && isHeld(part))
        groups.push_back(group(part));
    return groups;
  }

private:
  /// Whether the group of a part holds the array that is moved.
  bool isHeld(uint32_t part) const {
    Placement elsewhere = from_;
    elsewhere[move_.level] = {};
    return grid_.holds(elsewhere, part);
  }

  bool isOver(size_t level) const {
    return std::ranges::find(move_.over, level) != move_.over.end();
  }
  /// Of the parts that differ over the levels of the movement only.
  bool isFirst(uint32_t part) const {
    return std::ranges::all_of(move_.over,
                               [&](size_t level) { return grid_.coordinate(part, level) == 0; });
  }
  std::vector<uint32_t> partsLike(uint32_t first) const {
    std::vector<uint32_t> parts;
    for (uint32_t part = 0; part < grid_.count(); ++part) {
      uint32_t same = part;
      for (size_t level : move_.over)
        same = grid_.withCoordinate(same, level, 0);
      if (same == first)
        parts.push_back(part);
    }
    return parts;
  }

  /// Elements that leave the axis at its end come back at its beginning. The block of one part may lie across the end then: what it
  /// has behind it moves in a second list, whose elements lie before all others in the result.
  void addShift(const std::vector<uint32_t> &parts, std::vector<GroupMove> &groups) {
    size_t axis = shape_.size() - static_cast<size_t>(-from_[move_.level].axis);
    int64_t length = shape_[axis];
    int64_t by = length ? (distance_ % length + length) % length : 0, across = 0;
    GroupMove ahead, behind;
    movement::Request aheadRequest = requestOf(parts), behindRequest = aheadRequest;
    auto add = [&](GroupMove &group, movement::Request &request, const Box &box, Interval to) {
      request.sources.push_back(box);
      request.sources.back()[axis] = to;
      group.taken.push_back(box);
    };
    for (uint32_t part : parts) {
      Box box = grid_.boxOf(from_, shape_, part), rest = box;
      Interval to = {box[axis].begin + by, box[axis].end + by};
      if (to.begin >= length)
        to = {to.begin - length, to.end - length};
      int64_t over = std::max<int64_t>(to.end - length, 0);
      across = std::max(across, over);
      rest[axis].begin = box[axis].end -= over;
      add(ahead, aheadRequest, box, {to.begin, to.end - over});
      add(behind, behindRequest, rest, {0, over});
    }
    for (uint32_t part : parts) {
      Box box = grid_.boxOf(from_, shape_, part), begin = box;
      int64_t between = std::clamp(across, box[axis].begin, box[axis].end);
      box[axis].begin = begin[axis].end = between;
      aheadRequest.results.push_back(std::move(box));
      behindRequest.results.push_back(std::move(begin));
    }
    groups.push_back(shifted(std::move(ahead), std::move(aheadRequest), parts));
    if (across > 0)
      groups.push_back(shifted(std::move(behind), std::move(behindRequest), parts));
  }

  GroupMove shifted(GroupMove group, movement::Request request,
                    const std::vector<uint32_t> &parts) const {
    group.parts = parts;
    group.given = request.results;
    group.list = steps(std::move(request), parts);
    return group;
  }

  GroupMove group(uint32_t first) {
    uint32_t count = grid_.count(move_.level);
    std::vector<uint32_t> parts;
    for (uint32_t rank = 0; rank < count; ++rank)
      parts.push_back(grid_.withCoordinate(first, move_.level, rank));
    if (kindOf(move_.movement->id) == movement::Kind::Boxes)
      return boxes(parts);
    movement::Request request;
    request.kind = kindOf(move_.movement->id);
    request.ranks = count;
    Placement whole = from_;
    whole[move_.level] = {};
    for (const Interval &axis : grid_.boxOf(whole, shape_, first))
      request.shape.push_back(axis.length());
    const LevelPlacement &before = from_[move_.level], &after = move_.placement[move_.level];
    if (before.isCut())
      request.fromAxis = shape_.size() - static_cast<size_t>(-before.axis);
    if (after.isCut())
      request.toAxis = shape_.size() - static_cast<size_t>(-after.axis);
    if (before.isCut() && before.unit)
      splitUnits(request, before.unitLength);
    if (before.isSingle())
      request.root = before.part;
    movement::StepList list = steps(request, parts);
    return {std::move(parts), std::move(list)};
  }

  /// Lists of steps cut axes into blocks of single elements, so units become an axis of their own.
  static void splitUnits(movement::Request &request, int64_t unit) {
    int64_t &length = request.shape[request.fromAxis];
    length /= std::max<int64_t>(unit, 1);
    request.shape.insert(request.shape.begin() + static_cast<ptrdiff_t>(request.fromAxis) + 1,
                         unit);
    request.toAxis += request.toAxis > request.fromAxis;
  }

  /// The steps follow from the boxes that each part holds before and after the movement.
  GroupMove boxes(std::vector<uint32_t> parts) {
    movement::Request request = requestOf(parts);
    for (uint32_t part : parts) {
      request.sources.push_back(heldBox(from_, part));
      request.results.push_back(heldBox(move_.placement, part));
    }
    movement::StepList list = steps(request, parts);
    return {std::move(parts), std::move(list)};
  }

  movement::Request requestOf(const std::vector<uint32_t> &parts) const {
    movement::Request request;
    request.kind = movement::Kind::Boxes;
    request.shape = shape_;
    request.ranks = static_cast<uint32_t>(parts.size());
    request.together = grid_.together(parts);
    return request;
  }

  Box heldBox(const Placement &placement, uint32_t part) const {
    if (grid_.holds(placement, part))
      return grid_.boxOf(placement, shape_, part);
    return Box(shape_.size(), Interval{0, 0});
  }

  movement::StepList steps(movement::Request request, const std::vector<uint32_t> &parts) const {
    request.wanted = movement::algorithmNamed(move_.how);
    if (stepsFor_)
      return stepsFor_(request, parts);
    return movement::chooseSteps(request, elemInfo(move_.elem).storageBytes, grid_.cost());
  }

  const Grid &grid_;
  const PlacedValue &move_;
  const Placement &from_;
  std::vector<int64_t> shape_;
  const StepsFor &stepsFor_;
  int64_t distance_;
};

} // namespace

std::vector<GroupMove> groupsOf(const Grid &grid, const PlacedValue &move, const Placement &from,
                                const std::vector<int64_t> &shape, const StepsFor &stepsFor,
                                int64_t distance) {
  return GroupMaker(grid, move, from, shape, stepsFor, distance).run();
}

} // namespace ptl::parts
